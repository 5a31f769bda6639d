import Foundation
import HTTPTypes
import WaystationCryptography
import WaystationFields
import WaystationPacks

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
