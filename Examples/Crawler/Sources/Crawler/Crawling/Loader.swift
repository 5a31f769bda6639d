import COpenSSL
import Foundation
import FoundationNetworking
import HTTPTypes
import SiteTools
import Waystation
import WaystationHTTP

/// The response for one URL.
struct LoadedResponse: Sendable {
    var status: Int
    /// The URL after redirects.
    var finalURL: CanonicalURL?
    /// The media type in lower case, without parameters.
    var mimeType: String
    var charset: String?
    /// The field `Refresh`, by which a page names the one that follows it; each of its bytes is the character with that
    /// number, as HTML says ("isomorphic decode").
    var refresh: String?
    var retryAfter: String?
    /// The reason why the archive will not store the response, if the server forbids that.
    var refusal: String?
    /// Whether the archive answered.
    var isFromArchive: Bool
    var size: Int
    var digest: Data
    /// Nil if the caller did not want the body, or if it is too large.
    var body: Data?
}

/// Loads responses, and hashes bodies while they arrive, so that a film needs no more memory than a page.
struct Loader: Sendable {
    /// Larger bodies are hashed and archived, but not searched for links.
    static let keptBodyLimit = 32 << 20

    let client: DirectClient
    let userAgent: String

    /// Loads a URL, and keeps its body if `wantsBody` returns true for its type.
    ///
    /// Throws `URLError`.
    func load(
        _ url: CanonicalURL,
        wantsBody: (_ mimeType: String) -> Bool = { _ in true }
    ) async throws -> LoadedResponse {
        guard let address = URL(string: url.string) else { throw URLError(.badURL) }
        var request = URLRequest(url: address)
        request.setValue(userAgent, forHTTPHeaderField: "User-Agent")
        let response = try await client.response(for: request)
        let fields = response.head.headerFields
        let type = ContentType(field: fields[.contentType])

        var hash = BodyHash()
        var size = 0
        var body = wantsBody(type.mimeType) ? Data() : nil
        for try await part in response.body {
            hash.update(part)
            size += part.count
            if size <= Self.keptBodyLimit { body?.append(part) } else { body = nil }
        }
        return LoadedResponse(
            status: response.head.status.code,
            finalURL: response.url.flatMap { CanonicalURL(page: $0.absoluteString) },
            mimeType: type.mimeType,
            charset: type.charset,
            refresh: Self.refresh(in: fields),
            retryAfter: fields[.retryAfter],
            refusal: Self.refusal(cacheControl: fields[.cacheControl]),
            isFromArchive: response.metrics.source == .cache,
            size: size,
            digest: hash.digest,
            body: body
        )
    }

    private static func refresh(in fields: HTTPFields) -> String? {
        guard let name = HTTPField.Name("Refresh"), let field = fields[fields: name].first else { return nil }
        return field.withUnsafeBytesOfValue { bytes in
            String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
    }

    /// The reason why a response must not be stored (RFC 9111, section 5.2.2.5), in words; nil if it may be stored.
    private static func refusal(cacheControl: String?) -> String? {
        let directives = (cacheControl ?? "").lowercased().split(separator: ",")
        let isRefused = directives.contains { $0.trimmingCharacters(in: .whitespaces) == "no-store" }
        return isRefused ? "the server forbids keeping it (Cache-Control: no-store)" : nil
    }
}

/// SHA-256 of a body that arrives in parts.
private struct BodyHash: Sendable {
    private var context = SHA256_CTX()

    init() { SHA256_Init(&context) }

    mutating func update(_ part: Data) {
        part.withUnsafeBytes { bytes in _ = SHA256_Update(&context, bytes.baseAddress, bytes.count) }
    }

    /// The digest of all parts so far.
    var digest: Data {
        var context = context
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256_Final(&digest, &context)
        return Data(digest)
    }
}
