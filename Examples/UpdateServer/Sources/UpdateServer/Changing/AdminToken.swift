import Foundation
import HTTPTypes
import Hummingbird
import WaystationPacks

/// The secret that allows changes.
struct AdminToken: Sendable {
    static let minimumLength = 16

    /// The token's digest.
    private let digest: PackDigest

    /// Makes a token; nil if the text is too short.
    ///
    /// White space around the text does not count.
    init?(_ text: String) {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.utf8.count >= Self.minimumLength else { return nil }
        digest = PackDigest(of: Data(text.utf8))
    }

    /// Whether a request carries the token as `Authorization: Bearer TOKEN` (RFC 6750 section 2.1).
    func isCarried(by request: Request) -> Bool {
        guard let field = request.headers[.authorization] else { return false }
        let parts = field.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
        let other = PackDigest(of: Data(parts[1].trimmingCharacters(in: .whitespaces).utf8))
        // All digits are compared: the time says nothing about where two digests differ.
        return zip(digest.hex.utf8, other.hex.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// Refuses requests that do not carry the token.
struct TokenMiddleware<Context: RequestContext>: RouterMiddleware {
    let token: AdminToken

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard token.isCarried(by: request) else {
            let isMissing = request.headers[.authorization] == nil
            throw Problem(
                .unauthorized,
                "unauthorized",
                isMissing
                    ? "changes need the token: Authorization: Bearer TOKEN"
                    : "the token is wrong: use the one with which the server was started",
                headers: [
                    .wwwAuthenticate: "Bearer realm=\"releases\"" + (isMissing ? "" : ", error=\"invalid_token\""),
                    // An upload is not read to its end.
                    .connection: "close",
                ]
            )
        }
        return try await next(request, context)
    }
}
