public import Foundation
import HTTPTypes
import WaystationHTTP
public import WaystationPacks

/// A bucket of an S3-compatible store, in which a release directory can be.
///
/// ```swift
/// let bucket = try S3Bucket("s3://releases/shop", .init(environment: ProcessInfo.processInfo.environment))
/// let releases = ReleaseDirectory(in: bucket)
/// ```
///
/// The store must support conditional writes (`If-None-Match: *` and `If-Match` on PutObject), as Amazon S3 and MinIO
/// do; the first change of a process checks that. Requests are signed with Signature Version 4, bodies included. The
/// credentials need `s3:GetObject`, `s3:PutObject`, `s3:DeleteObject`, and `s3:ListBucket`, without which a store
/// answers 403 for an object that does not exist. Each file is sent by one request, which a store takes up to 5 GiB,
/// and is in memory while it is sent or received.
///
/// A request that fails by the network or the store (status 500 and above), or that meets another write of the same
/// object (409), is sent up to four times. All members may be called from any thread; cancelling the task stops the
/// request.
public struct S3Bucket: Sendable {
    /// The bucket and the prefix.
    public let location: S3Location
    /// The settings.
    public let configuration: Configuration

    let address: S3Address
    let now: @Sendable () -> Date

    /// Makes a bucket; nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - address: The bucket and the prefix, such as `s3://releases/shop`.
    ///   - configuration: The settings.
    /// - Throws: ``WaystationPacks/PackError`` with `invalidArgument` for an invalid address, region or endpoint.
    public init(_ address: String, _ configuration: Configuration) throws(PackError) {
        try self.init(S3Location(address), configuration, now: { Date() })
    }

    package init(
        _ location: S3Location,
        _ configuration: Configuration,
        now: @escaping @Sendable () -> Date
    ) throws(PackError) {
        self.location = location
        self.configuration = configuration
        self.now = now
        address = try S3Address(
            location.bucket,
            region: configuration.region,
            endpoint: configuration.endpoint,
            style: configuration.addressing
        )
    }

    /// The address, such as `s3://releases/shop`.
    public var url: URL {
        // An address has only characters that a URL may contain.
        URL(string: location.description) ?? URL(filePath: location.description)
    }
}

extension S3Bucket: ObjectBucket {
    package func read(_ key: String, limit: Int) async throws(PackError) -> StoredObject? {
        let reply = try await send(S3Request(.get, location.key(key), limit: limit))
        if reply.isMissingObject { return nil }
        guard reply.status == 200, let version = reply.fields[.eTag] else { throw refusal(reply, key) }
        return StoredObject(data: reply.body, version: version)
    }

    package func download(_ key: String, into file: URL, limit: Int) async throws(PackError) -> Bool {
        guard let object = try await read(key, limit: limit) else { return false }
        try await DiskWork.run("writing \(file.lastPathComponent)") { try object.data.write(to: file) }
        return true
    }

    package func write(
        _ data: Data,
        to key: String,
        as delivery: ObjectDelivery,
        if condition: WriteCondition?
    ) async throws(PackError) -> WriteOutcome {
        var request = S3Request(.put, location.key(key), limit: 1 << 16)
        request.body = data
        request.fields = delivery.fields
        switch condition {
        case .absent?: request.fields[.ifNoneMatch] = "*"
        case .matches(let version)?: request.fields[.ifMatch] = version
        case nil: break
        }
        let reply = try await send(request)
        switch (reply.status, condition) {
        case (200, _): return .stored
        // The condition is not fulfilled.
        case (412, _): return .lost
        // The object of an `If-Match` was removed.
        case (404, .matches) where reply.isMissingObject: return .lost
        default: throw refusal(reply, key)
        }
    }

    package func list(_ prefix: String) async throws(PackError) -> ObjectListing {
        var found: [ListedObject] = []
        var began: Date?
        var token: String?
        repeat {
            var request = S3Request(.get, "", limit: 16 << 20)
            request.query = [("list-type", "2"), ("prefix", location.key(prefix))]
            if let token { request.query.append(("continuation-token", token)) }
            let reply = try await send(request)
            guard reply.status == 200 else { throw refusal(reply, prefix) }
            let page = S3Listing(reply.body, below: location.key(""))
            if token == nil { began = date(of: reply) }
            found += page.objects
            token = page.next
        } while token != nil
        return ObjectListing(found, began: began)
    }

    /// The store's own time in a reply; nil if it has none.
    private func date(of reply: S3Reply) -> Date? {
        let present = HTTPDate(nearestTo: now().timeIntervalSince1970)
        return reply.fields[.date].flatMap { HTTPDate($0, now: present) }
            .map { Date(timeIntervalSince1970: Double($0.secondsSinceEpoch)) }
    }

    package func remove(_ key: String) async throws(PackError) {
        let reply = try await send(S3Request(.delete, location.key(key), limit: 1 << 16))
        guard [200, 204].contains(reply.status) || reply.isMissingObject else { throw refusal(reply, key) }
    }
}

extension ObjectDelivery {
    fileprivate var fields: HTTPFields {
        let forever = "public, max-age=31536000, immutable"
        return switch self {
        case .changing: [.contentType: "application/json", .cacheControl: "no-cache"]
        case .zip: [.contentType: "application/zip", .cacheControl: forever]
        case .patch: [.contentType: "application/octet-stream", .cacheControl: forever]
        }
    }
}

extension S3Bucket {
    /// The part of a URL that names the bucket.
    public struct AddressingStyle: Sendable, Hashable {
        let isInHost: Bool
        /// `https://bucket.endpoint/key`.
        public static let virtualHost = AddressingStyle(isInHost: true)
        /// `https://endpoint/bucket/key`.
        public static let path = AddressingStyle(isInHost: false)
    }

    /// The settings of a bucket.
    public struct Configuration: Sendable {
        /// The credentials.
        public var credentials: S3Credentials
        /// The region; `us-east-1` by default.
        public var region: String
        /// The http or https URL of the store; nil, the default, for that of AWS in the region.
        public var endpoint: URL?
        /// The part of a URL that names the bucket; nil, the default, takes the host for AWS, and the path for other
        /// stores and for a bucket with dots in its name, which the certificate of a wildcard does not cover.
        public var addressing: AddressingStyle?
        /// Sends the requests; by default, a fetcher with Foundation's default limits.
        public var fetcher: any PackFetching

        /// Makes a configuration.
        public init(
            credentials: S3Credentials,
            region: String = "us-east-1",
            endpoint: URL? = nil,
            addressing: AddressingStyle? = nil,
            fetcher: any PackFetching = URLSessionFetcher.shared
        ) {
            self.credentials = credentials
            self.region = region
            self.endpoint = endpoint
            self.addressing = addressing
            self.fetcher = fetcher
        }

        /// Reads the environment variables that tools for S3 share: those of ``S3Credentials/init(environment:)``,
        /// `AWS_REGION` or `AWS_DEFAULT_REGION`, and `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`.
        ///
        /// - Throws: ``WaystationPacks/PackError`` with `invalidArgument` for missing credentials, or an endpoint that
        ///   is no URL.
        public init(environment: [String: String]) throws(PackError) {
            func value(_ names: String...) -> (name: String, text: String)? {
                for name in names {
                    if let text = environment[name], !text.isEmpty { return (name, text) }
                }
                return nil
            }
            self.init(credentials: try S3Credentials(environment: environment))
            if let region = value("AWS_REGION", "AWS_DEFAULT_REGION") { self.region = region.text }
            guard let endpoint = value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") else { return }
            guard let url = URL(string: endpoint.text) else {
                throw PackError(
                    .invalidArgument,
                    "\(endpoint.name) is not a URL: use one such as https://s3.example.com"
                )
            }
            self.endpoint = url
        }
    }
}

/// The URLs of a bucket's objects.
struct S3Address: Sendable {
    /// The scheme, `http` or `https`.
    let scheme: String
    /// The host, with its port unless that is the scheme's own.
    let host: String
    /// The percent-encoded path of the bucket, without a slash at its end.
    let path: String

    init(
        _ bucket: String,
        region: String,
        endpoint: URL?,
        style: S3Bucket.AddressingStyle?
    ) throws(PackError) {
        let isOwn = endpoint == nil
        guard region.wholeMatch(of: /[A-Za-z0-9-]+/) != nil else {
            throw PackError(.invalidArgument, "\(region) is no region: use a name such as eu-central-1")
        }
        let url = endpoint ?? URL(string: "https://s3.\(region).amazonaws.com")
        guard let url, let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let name = parts.percentEncodedHost, !name.isEmpty, parts.user == nil, parts.query == nil,
            parts.fragment == nil
        else {
            throw PackError(
                .invalidArgument,
                "the endpoint of the store is not an http or https URL: use one such as https://s3.example.com"
            )
        }
        let port = parts.port.flatMap { $0 == ["http": 80, "https": 443][scheme] ? nil : ":\($0)" } ?? ""
        var base = parts.percentEncodedPath
        while base.hasSuffix("/") { base.removeLast() }
        let isInHost = (style ?? (isOwn && !bucket.contains(".") ? .virtualHost : .path)).isInHost
        self.scheme = scheme
        host = (isInHost ? "\(bucket)." : "") + name + port
        path = base + (isInHost ? "" : "/\(bucket)")
    }

    /// The percent-encoded path of an object; of the bucket itself for an empty key.
    func path(of key: String) -> String { "\(path)/\(key)" }
}

extension S3Bucket {
    /// The error for a reply that was not expected, with advice.
    func refusal(_ reply: S3Reply, _ key: String) -> PackError {
        let answer = "the store answered \(reply.status)" + (reply.code.map { " \($0.shown())" } ?? "")
        return PackError(.refused, "\(location)/\(key): \(answer); \(advice(reply))")
    }

    private func advice(_ reply: S3Reply) -> String {
        let own = configuration.region
        let region = (S3Text(reply.body)["Region"] ?? Self.bucketRegion.flatMap { reply.fields[$0] })?.shown()
        switch (reply.status, reply.code) {
        case (_, "PermanentRedirect"), (_, "TemporaryRedirect"), (_, "AuthorizationHeaderMalformed"), (301, _),
            (307, _):
            guard let region, region != own else {
                return "the bucket is in another region than \(own), or at another endpoint: set AWS_REGION, and "
                    + "AWS_ENDPOINT_URL_S3 for a store other than AWS"
            }
            return "the bucket is in the region \(region), not in \(own): set AWS_REGION=\(region)"
        case (_, "InvalidAccessKeyId"):
            return "the store does not know the access key \(configuration.credentials): check AWS_ACCESS_KEY_ID, and "
                + "that the endpoint is that of the store which issued it"
        case (_, "SignatureDoesNotMatch"):
            return "the secret key does not belong to the access key \(configuration.credentials): check "
                + "AWS_SECRET_ACCESS_KEY"
        case (_, "ExpiredToken"), (_, "InvalidToken"):
            return "the temporary credentials are not valid any more: get new ones, with AWS_SESSION_TOKEN"
        case (_, "RequestTimeTooSkewed"):
            return "this machine's clock is wrong by many minutes: set it"
        case (_, "NoSuchBucket"):
            return "there is no bucket \(location.bucket) at \(address.scheme)://\(address.host): create it, or check "
                + "its name and the endpoint"
        case (401, _), (403, _):
            return "the credentials of \(configuration.credentials) do not allow this: allow s3:GetObject, "
                + "s3:PutObject, s3:DeleteObject and s3:ListBucket for the bucket and its prefix"
        case (404, _):
            return "there is no such object or bucket: check the name of the bucket, and the endpoint"
        case (409, _): return "another write of this object is under way: try again later"
        case (501, _):
            return "the store lacks a feature that publishing needs, such as conditional writes: use another store, or "
                + "publish into a directory and copy that"
        case (429, _), (503, _): return "the store is busy: try again later"
        case (500..., _): return "the store failed: try again later"
        default: return "check the bucket, the region and the endpoint"
        }
    }

    private static let bucketRegion = HTTPField.Name("x-amz-bucket-region")
}
