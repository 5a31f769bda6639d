public import Foundation
import HTTPTypes
import WaystationFields
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
