import Measuring

extension Argument {
    /// The differences that only the engine on SwiftNIO makes.
    static let ofEngine: [Argument] =
        [
            engine(
                "coding/cut-gzip",
                outcome,
                "a gzip body without its end is incomplete (RFC 1952, section 2.2); Foundation delivers the part as a "
                    + "whole"
            ),
            engine(
                "coding/unknown",
                outcome,
                "a body whose coding no client knows is delivered as it came, as browsers do; libcurl fails"
            ),
            engine(
                "h2/goaway/below-stream/*",
                outcome.union(["connections", "origin"]),
                "the server has not worked on the request, so it may be sent again (RFC 9113, section 6.8)"
            ),
            engine(
                "h2/reset/refused/*",
                ["connections", "origin"],
                "a refused stream is tried again on its connection; Foundation takes another one, and loses the body"
            ),
            engine(
                "h2/reset/early-answer",
                outcome,
                "a server may answer before the whole request, and then reset the stream (RFC 9113, section 8.1)"
            ),
            engine(
                "h2/closed/after-answer",
                ["calls", "connections", "origin"],
                "a connection that has ended is not used again; Foundation sends the next request on it, and fails"
            ),
            engine(
                "h2/closed/second-request",
                ["calls", "connections", "origin"],
                "a request on a kept connection that ends without an answer is sent once more, as libcurl does over HTTP/1.1"
            ),
            engine(
                "stale/three-connections/GET",
                ["origin"],
                "a request whose connection was lost is sent again on a new connection; Foundation loses it on each kept "
                    + "connection first"
            ),
            engine(
                "h2/closed/before-head",
                ["error"],
                "the engine reports a response that never began with -1011, whatever the version of HTTP"
            ),
            engine(
                "h2/reset/*",
                ["error"],
                "the engine reports a response that never began with -1011, whatever the version of HTTP"
            ),
            engine(
                "h2/broken/*",
                ["error"],
                "a server that breaks the rules of HTTP/2 is no empty answer, for which -1011 stands"
            ),
            engine(
                "proxy/*",
                ["proxy-connection"],
                "clients should not send Proxy-Connection (RFC 9112, appendix C.2.2)"
            ),
            engine(
                "proxy/shared-by-hosts",
                ["connections"],
                "the engine shares a connection to a proxy only among the requests to one origin"
            ),
            engine(
                "proxy/not-found",
                ["error"],
                "the proxy's name has no address, and the error says that a host was not found"
            ),
        ]
        + [
            ("equal-lengths", "two lengths in one response are refused, as RFC 9112, section 6.3, allows"),
            ("different-lengths", "a response with two different lengths must be refused (RFC 9112, section 6.3)"),
            (
                "length-and-chunked",
                "a length beside the chunked coding ought to be handled as an error (RFC 9112, "
                    + "section 6.3), because it serves to smuggle responses"
            ),
            (
                "folded-field",
                "folded fields are obsolete (RFC 9112, section 5.2), and the engine's parser refuses them"
            ),
            (
                "unknown-transfer-coding",
                "a body in a transfer coding that is not registered ends with its connection, and is delivered as it came "
                    + "(RFC 9112, section 6.3), as browsers do; libcurl fails"
            ),
            ("version-2", "HTTP/2.0 is no version that a response in the form of HTTP/1.1 may name (RFC 9113)"),
            ("2000-fields", "the engine takes at most 1,000 fields, so that a server cannot make it busy for seconds"),
            ("no-space-after-colon", "the space after the colon is optional (RFC 9112, section 5)"),
            ("no-reason", "the reason phrase is optional, and clients accept a line without the space before it"),
            ("latin-1", "field values may contain bytes beyond ASCII (RFC 9110, section 5.5)"),
            ("line-of-110-KB", "the engine limits a whole head to 256 KiB, and no single line"),
        ].map { engine("head/\($0)", outcome, $1) }

    /// All facts that a load with a response has, and a failed one has not.
    private static let outcome: Set<String> = [
        "bytes", "encoding", "error", "expected", "fields", "mime", "status", "suggested", "url",
    ]

    private static func engine(_ scenarios: String, _ facts: Set<String>, _ reason: String) -> Argument {
        Argument(scenarios, variants: ["nio", "nio-stored"], facts: facts, because: reason)
    }
}
