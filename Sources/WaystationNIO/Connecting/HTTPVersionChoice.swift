#if NIO
import WaystationFields

/// Chooses the version of HTTP for a new connection.
struct HTTPVersionChoice: Sendable {
    enum Version: Equatable, Sendable {
        case http1
        case http2
    }

    var versions: NIOOptions.HTTPVersions
    /// Whether the engine has an HTTP/2 connection at all.
    var canSpeakHTTP2: Bool

    /// The protocols that a TLS handshake offers, the preferred one first (RFC 7301).
    var offeredProtocols: [String] {
        switch versions {
        case .automatic: canSpeakHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
        case .http1: ["http/1.1"]
        case .http2PriorKnowledge: canSpeakHTTP2 ? ["h2"] : []
        }
    }

    /// The version to speak.
    ///
    /// - Parameter negotiated: The protocol that the server chose; nil without TLS, or if it chose none.
    /// - Returns: The version.
    /// - Throws: A `TransportFailure` if no version remains.
    func version(negotiated: String?) throws -> Version {
        switch (versions, negotiated) {
        case (.http2PriorKnowledge, _) where !canSpeakHTTP2:
            throw TransportFailure(.unknown, "This build cannot speak HTTP/2. Choose other httpVersions.")
        case (.http2PriorKnowledge, nil), (.http2PriorKnowledge, "h2"): return .http2
        case (.automatic, "h2") where canSpeakHTTP2: return .http2
        case (.automatic, nil), (.automatic, "http/1.1"), (.http1, nil), (.http1, "http/1.1"): return .http1
        default:
            throw TransportFailure(
                .unknown,
                "The server chose the protocol \((negotiated ?? "").quoted()), which was not offered to it."
            )
        }
    }
}
#endif
