import Foundation
import FoundationNetworking
import WaystationTesting

extension Scenario {
    /// Heads of responses, of which the one engine accepts what the other refuses, and those that end the process of
    /// anyone who uses Foundation's engine.
    static let heads: [Scenario] =
        [
            raw("head/equal-lengths", ["Content-Length: 5", "Content-Length: 5"]),
            raw("head/different-lengths", ["Content-Length: 5", "Content-Length: 4"]),
            raw(
                "head/length-and-chunked",
                ["Content-Length: 5", "Transfer-Encoding: chunked"],
                body: "5\r\nhello\r\n0\r\n\r\n"
            ),
            raw("head/folded-field", ["X-Folded: one", "  two", "Content-Length: 5"]),
            raw("head/version-2", status: "HTTP/2.0 200 OK"),
            raw("head/version-1.0", status: "HTTP/1.0 200 OK", []),
            raw("head/no-space-after-colon", ["X-Tight:value", "Content-Length:5"]),
            raw("head/no-reason", status: "HTTP/1.1 200"),
            raw("head/empty-reason", status: "HTTP/1.1 200 "),
            raw("head/field-without-colon", ["Odd", "Content-Length: 5"]),
            raw("head/empty-field-name", [": odd", "Content-Length: 5"]),
            raw("head/space-before-colon", ["X-Odd : 1", "Content-Length: 5"]),
            raw("head/bare-line-feeds", lineEnd: "\n"),
            raw("head/latin-1", ["X-Latin: caf\u{e9}", "Content-Length: 5"]),
            raw("head/utf-8", ["X-UTF: \u{20ac}", "Content-Length: 5"], encoding: .utf8),
            raw("head/zero-byte", ["X-Zero: a\0b", "Content-Length: 5"]),
            raw("head/line-of-90-KB", ["X-Long: \(letters(90_000))", "Content-Length: 5"]),
            raw("head/line-of-110-KB", ["X-Long: \(letters(110_000))", "Content-Length: 5"]),
            raw("head/300-KB", (0..<30).map { "X-\($0): \(letters(10_500))" } + ["Content-Length: 5"]),
            raw("head/2000-fields", (0..<2_000).map { "X-\($0): 1" } + ["Content-Length: 5"]),
            raw("head/status-099", status: "HTTP/1.1 099 Odd"),
            raw("head/status-600", status: "HTTP/1.1 600 Odd"),
            raw("head/status-1000", status: "HTTP/1.1 1000 Odd"),
            raw("head/negative-length", ["Content-Length: -1"]),
            raw("head/unknown-transfer-coding", ["Transfer-Encoding: odd"]),
            raw(
                "head/cut",
                ["X-Cut: the connection ends he"],
                headEnd: "",
                stopsFoundation: true,
                required: ["status": "none"]
            ),
            raw("head/chunk-of-odd-size", ["Transfer-Encoding: chunked"], body: "x\r\nhello\r\n0\r\n\r\n"),
            raw("head/chunk-extensions", ["Transfer-Encoding: chunked"], body: "5;a=b;c\r\nhello\r\n0;d\r\n\r\n"),
            raw(
                "head/length-beyond-62-bits",
                ["Content-Length: 9223372036854775807"],
                stopsFoundation: true,
                required: ["status": "none"]
            ),
            raw(
                "head/trailer",
                ["Transfer-Encoding: chunked"],
                body: "5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n",
                stopsFoundation: true,
                required: ["status": "200", "error": "none", "bytes": "5 bytes a430d84680aabd0b"]
            ),
        ]
        + [Way.completion, .delegate].flatMap { way in
            [
                interim("head/100", way, "HTTP/1.1 100 Continue\r\n\r\n"),
                interim("head/103", way, "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"),
            ]
        }

    private static func letters(_ count: Int) -> String {
        // Each child makes all scenarios, and a string that repeats another one is slow in a debug build.
        String(decoding: [UInt8](repeating: UInt8(ascii: "a"), count: count), as: UTF8.self)
    }

    /// Makes a load of a response that is sent as it stands.
    private static func raw(
        _ name: String,
        status: String = "HTTP/1.1 200 OK",
        _ fields: [String] = ["Content-Length: 5"],
        lineEnd: String = "\r\n",
        headEnd: String? = nil,
        body: String = "hello",
        encoding: String.Encoding = .isoLatin1,
        stopsFoundation: Bool = false,
        required: [String: String] = [:]
    ) -> Scenario {
        let head = ([status] + fields).map { $0 + lineEnd }.joined()
        let text = headEnd == nil ? head + lineEnd + body : String(head.dropLast(lineEnd.count))
        let bytes = text.data(using: encoding) ?? Data()
        return Scenario(name, stopsFoundation: stopsFoundation, required: required) { _, _ in
            .raw(bytes)
        } run: {
            try await $0.load(.data, .completion, $0.request("/"))
        }
    }

    /// Makes a load whose response comes after an interim response (RFC 9110, section 15.2).
    private static func interim(_ name: String, _ way: Way, _ response: String) -> Scenario {
        Scenario("\(name)/\(way.rawValue)") { _, _ in
            .raw(
                Data((response + "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello").utf8)
            )
        } run: {
            try await $0.load(.data, way, $0.request("/"))
        }
    }
}
