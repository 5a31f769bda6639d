import Foundation
import HTTPTypes
import WaystationHTTP
import WaystationPacks
import WaystationStorage

/// A request to a bucket, not yet signed.
struct S3Request: Sendable {
    let method: HTTPRequest.Method
    /// The whole key; empty for the bucket itself.
    let key: String
    /// The most bytes that the reply's body may have.
    let limit: Int
    /// Names and values, not encoded.
    var query: [(name: String, value: String)] = []
    var fields: HTTPFields = [:]
    var body = Data()

    init(_ method: HTTPRequest.Method, _ key: String, limit: Int) {
        self.method = method
        self.key = key
        self.limit = limit
    }

    /// The SHA-256 of the body in hexadecimal digits.
    ///
    /// The body may be a file of some GiB, which is read from the disk for it.
    func payload() async throws(PackError) -> String {
        try await DiskWork.run("reading \(key)") { [body] in MessageDigest.of(body).hexadecimal }
    }
}

/// A complete reply of a store.
struct S3Reply: Sendable {
    let status: Int
    let fields: HTTPFields
    let body: Data

    /// The store's own code of an error; nil where it sent none, as in a reply to HEAD.
    var code: String? { S3Text(body)["Code"] }

    /// Whether there is no object with this key, in a bucket that exists.
    var isMissingObject: Bool { status == 404 && (code == nil || code == "NoSuchKey") }

    /// Whether the same request may have another reply soon.
    ///
    /// 409 does not report whether the condition of a write holds: another write of the object is under way, which may
    /// be the same request on a connection that broke, and may fail. 501 is a feature that the store does not have.
    var mayChange: Bool { status == 409 || status >= 500 && status != 501 }
}

extension S3Bucket {
    /// The number of times that a request is sent if the network or the store fails.
    private static let attempts = 4

    /// Signs and sends a request.
    ///
    /// - Returns: The reply, whatever its status.
    func send(_ request: S3Request) async throws(PackError) -> S3Reply {
        let payload = try await request.payload()
        var attempt = 1
        while true {
            let failure: PackError?
            do throws(PackError) {
                let reply = try await sendOnce(request, payload)
                guard reply.mayChange, attempt < Self.attempts else { return reply }
                failure = nil
            } catch {
                failure = error
            }
            if let failure, failure.code != .network || attempt == Self.attempts { throw failure }
            try? await Task.sleep(for: .milliseconds(100 << attempt))
            attempt += 1
        }
    }

    private func sendOnce(_ request: S3Request, _ payload: String) async throws(PackError) -> S3Reply {
        let signed = try signed(request, payload: payload, now: now())
        do {
            let response = try await configuration.fetcher.fetch(signed)
            var body = Data()
            for try await part in response.body { body.append(part) }
            guard !Task.isCancelled else {
                throw PackError(.cancelled, "the request to \(location) was cancelled", cause: CancellationError())
            }
            return S3Reply(status: response.status, fields: response.fields, body: body)
        } catch let error as PackError where error.code == .network {
            throw PackError(
                .network,
                "\(address.scheme)://\(address.host) could not be reached for \(location): check the connection, and "
                    + "the endpoint of the store",
                cause: error.cause
            )
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(.network, "the connection for \(location) broke: try again", cause: error)
        }
    }

    /// The request with its signature.
    func signed(_ request: S3Request, payload: String, now: Date) throws(PackError) -> FetchRequest {
        var fields = request.fields
        let own = [
            ("x-amz-date", SigningScope.time(now)), ("x-amz-content-sha256", payload),
            ("x-amz-security-token", configuration.credentials.sessionToken),
        ]
        for (name, value) in own {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let query = request.query.map { (name: Self.encoded($0.name), value: Self.encoded($0.value)) }
        let path = address.path(of: request.key)
        let signing = SigningRequest(
            method: request.method.rawValue,
            path: path,
            query: query,
            fields: [("host", address.host)]
                + fields.filter(Self.isSigned).map { ($0.name.canonicalName, $0.value) },
            payload: payload
        )
        fields[.authorization] = signing.authorization(
            SigningScope(credentials: configuration.credentials, region: configuration.region),
            now: now
        )
        let items = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        guard
            let url = URL(
                string: "\(address.scheme)://\(address.host)\(path)" + (items.isEmpty ? "" : "?\(items)")
            )
        else { throw PackError(.invalidArgument, "\(location) with \(request.key) makes no URL") }
        return FetchRequest(
            url,
            method: request.method,
            fields: fields,
            body: request.body,
            maximumBodySize: max(request.limit, 1 << 16)
        )
    }

    /// The signature covers what a write depends on; proxies may change other fields.
    private static func isSigned(_ field: HTTPField) -> Bool {
        field.name.canonicalName.hasPrefix("x-amz-") || [.ifMatch, .ifNoneMatch, .contentType].contains(field.name)
    }

    private static func encoded(_ text: String) -> String {
        String(decoding: Array(text.utf8).percentEncoded, as: UTF8.self)
    }
}

/// A request as Signature Version 4 of AWS signs it: a function of values, without a clock.
///
/// The query items and the path are given as they are sent, percent-encoded once. All fields are signed.
struct SigningRequest: Sendable {
    var method: String
    /// The percent-encoded path, which begins with `/`.
    var path: String
    /// Names and values, percent-encoded.
    var query: [(name: String, value: String)] = []
    /// All fields to sign, `host` and `x-amz-date` among them.
    var fields: [(name: String, value: String)]
    /// The SHA-256 of the body in hexadecimal digits.
    var payload: String

    /// The value of the field `Authorization`; `now` is the time of the field `x-amz-date`.
    func authorization(_ scope: SigningScope, now: Date) -> String {
        let credential = "\(scope.credentials.accessKey)/\(scope.description(now: now))"
        let signature = AuthenticationCode.of(Array(text(scope, now: now).utf8), key: scope.key(now: now))
        return "\(SigningScope.algorithm) Credential=\(credential), SignedHeaders=\(signedNames), "
            + "Signature=\(signature.hexadecimal)"
    }

    /// The canonical form of the request.
    var canonical: String {
        let items = query.sorted { ($0.name, $0.value) < ($1.name, $1.value) }.map { "\($0.name)=\($0.value)" }
        let lines = sortedFields.map { "\($0.name):\($0.value)\n" }.joined()
        return [method, path, items.joined(separator: "&"), lines, signedNames, payload].joined(separator: "\n")
    }

    /// The text that is signed.
    func text(_ scope: SigningScope, now: Date) -> String {
        let digest = MessageDigest.of(Array(canonical.utf8)).hexadecimal
        return [SigningScope.algorithm, SigningScope.time(now), scope.description(now: now), digest]
            .joined(separator: "\n")
    }

    private var signedNames: String { sortedFields.map(\.name).joined(separator: ";") }

    private var sortedFields: [(name: String, value: String)] {
        fields.map { field in
            // Runs of spaces count as one.
            let words = field.value.split(separator: " ", omittingEmptySubsequences: true)
            return (field.name.lowercased(), words.joined(separator: " "))
        }
        .sorted { $0.name < $1.name }
    }
}

/// The region, the service and the credentials of a signature.
struct SigningScope: Sendable {
    static let algorithm = "AWS4-HMAC-SHA256"

    var credentials: S3Credentials
    var region: String
    var service = "s3"

    /// The time in the form `20130524T000000Z`.
    static func time(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
    }

    func description(now: Date) -> String { "\(Self.time(now).prefix(8))/\(region)/\(service)/aws4_request" }

    fileprivate func key(now: Date) -> [UInt8] {
        let day = String(Self.time(now).prefix(8))
        return [day, region, service, "aws4_request"].reduce(Array("AWS4\(credentials.secretKey)".utf8)) { key, part in
            AuthenticationCode.of(Array(part.utf8), key: key)
        }
    }
}

/// The text between tags in an XML document of a store.
///
/// The documents are flat, and the values that are read have no markup, so this needs no parser of XML.
struct S3Text: Sendable {
    private let text: String

    init(_ data: Data) { text = String(decoding: data, as: UTF8.self) }

    private init(_ text: Substring) { self.text = String(text) }

    /// The text of the first element with a name; nil if no element has it.
    subscript(name: String) -> String? {
        all(name).first.map { element in
            element.text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
                .replacing("&#34;", with: "\"").replacing("&amp;", with: "&")
        }
    }

    /// The elements with a name, one after another.
    func all(_ name: String) -> [S3Text] {
        var found: [S3Text] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "<\(name)>") {
            let after = rest[start.upperBound...]
            guard let end = after.firstRange(of: "</\(name)>") else { break }
            found.append(S3Text(after[..<end.lowerBound]))
            rest = after[end.upperBound...]
        }
        return found
    }
}

/// A page of a listing (`ListObjectsV2`).
struct S3Listing: Sendable {
    let objects: [ListedObject]
    /// The token of the next page; nil after the last.
    let next: String?

    /// Reads a page; an object without a valid time is left out.
    init(_ data: Data, below prefix: String) {
        let text = S3Text(data)
        objects = text.all("Contents").compactMap { element in
            guard let key = element["Key"], key.hasPrefix(prefix), let time = element["LastModified"],
                let modified = (try? Date(time, strategy: .iso8601.time(includingFractionalSeconds: true)))
                    ?? (try? Date(time, strategy: .iso8601))
            else { return nil }
            return ListedObject(key: String(key.dropFirst(prefix.count)), modified: modified)
        }
        next = text["IsTruncated"] == "true" ? text["NextContinuationToken"] : nil
    }
}
