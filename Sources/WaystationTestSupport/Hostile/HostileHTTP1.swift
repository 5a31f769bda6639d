/// Hostile responses of HTTP/1.1.
public enum HostileHTTP1 {
    /// Makes a response of any group.
    ///
    /// - Parameters:
    ///   - path: The path of the request, for redirects to itself.
    ///   - random: Determines the response.
    /// - Returns: The steps of the server.
    public static func response(to path: String, using random: inout some RandomNumberGenerator) -> HostileResponse {
        let response =
            switch random.number(0...15) {
            case 0...2: HostileResponse("pieces", [.send(pieces(using: &random))])
            case 3...4: statusLine(&random)
            case 5...6: HostileFields.response(&random)
            case 7...8: HostileFraming.response(&random)
            case 9...10: HostileChunks.response(&random)
            case 11...12: HostileCoding.response(&random)
            case 13: HostileRedirects.response(to: path, &random)
            case 14: random.once(in: 3) ? stall(&random) : interims(&random)
            default: random.once(in: 4) ? endless(&random) : fatalToFoundation(path, &random)
            }
        return response.cut(using: &random)
    }

    // MARK: Pieces

    /// Pieces of which responses are put together, valid and not.
    private static let pieces: [String] = [
        "HTTP/1.1 200 OK\r\n", "HTTP/1.0 200 OK\r\n", "HTTP/1.1 204 No Content\r\n", "HTTP/1.1 304 Not Modified\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 101 X\r\n", "HTTP/1.1 099 X\r\n", "HTTP/1.1 200\r\n",
        "HTTP/9.9 200 OK\r\n", "HTTP/2.0 200 OK\r\n", "ICY 200 OK\r\n", "Content-Length: 5\r\n",
        "Content-Length: 0\r\n", "Content-Length: -1\r\n", "Content-Length: 99999999999999999999\r\n",
        "Content-Length: 5, 5\r\n", "content-length:\r\n", "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip\r\n", "Transfer-Encoding: chunked, chunked\r\n", "Transfer-Encoding:\u{B}chunked\r\n",
        "Connection: close\r\n", "Connection: keep-alive\r\n", "Connection: Upgrade\r\n", "Upgrade: h2c\r\n", "A:\r\n",
        "A\r\n", ": x\r\n", " folded\r\n", "A: \u{0}\r\n", "Ä: ö\r\n", "A: b\n", "\r", "\n", "\r\n", "\r\n", "\r\n",
        "\r\n\r\n", "5\r\n", "hello", "hello\r\n", "0\r\n", "0\r\n\r\n", "5;a=\"b\r\n", "FFFFFFFFFFFFFFFF\r\n",
        "fffffffffffffffff\r\n", "-5\r\n", "0x5\r\n", "T: 1\r\n", "T:\r\n", "T", "\u{0}", "Content-Encoding: gzip\r\n",
        "Set-Cookie: a=b\r\n", "Trailer: T\r\n",
    ]

    /// Up to twelve pieces in any order, often after a valid status line; some are damaged.
    public static func pieces(using random: inout some RandomNumberGenerator) -> [UInt8] {
        var text = random.once(in: 8) ? "" : "HTTP/1.1 200 OK\r\n"
        for _ in 0..<random.number(0...11) { text += random.pick(pieces) }
        let bytes = Array(text.utf8)
        return random.once(in: 5) ? Damage.damaged(bytes, using: &random) : bytes
    }

    // MARK: Status lines

    private static let versions = [
        "HTTP/1.0", "HTTP/0.9", "HTTP/2", "HTTP/3.0", "http/1.1", "HTTP/11.1", "HTTP/1.", "HTTP/", "ICY", "SSH-2.0-x",
        "\u{0}", "\r\n\r\nHTTP/1.1", "",
    ]
    private static let statuses = [
        "099", "000", "999", "1000", "-1", "1", "20", "2 0", "99999999999999999999", "0200", "\u{FF12}\u{FF10}\u{FF10}",
        "2\u{0}0", "0x8", "",
    ]
    private static let reasons = [
        "", "\u{0}", "a\rb", "a\nb", "\u{FF}\u{FF}", String(repeating: "r", count: 99_999),
    ]

    private static func statusLine(_ random: inout some RandomNumberGenerator) -> HostileResponse {
        // One part of the line or two are wrong, so that a parser also gets beyond the first of them.
        var parts = ["HTTP/1.1", " ", "200", " ", "OK"]
        for _ in 0..<random.number(1...2) {
            switch random.number(0...3) {
            case 0: parts[0] = random.pick(versions)
            case 1: parts[2] = random.pick(statuses)
            case 2: parts[4] = random.pick(reasons)
            default: parts[random.pick([1, 3])] = random.pick(["  ", "\t", ""])
            }
        }
        var steps: [HostileResponse.Step] = [.text(parts.joined())]
        if random.once(in: 8) { steps.append(.flood("endless reason ")) }
        steps.append(.text("\r\nContent-Length: 5\r\n\r\nhello"))
        return HostileResponse("status lines", steps)
    }

    // MARK: Interim responses

    private static func interims(_ random: inout some RandomNumberGenerator) -> HostileResponse {
        let interim = random.pick([
            "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: <a>; rel=preload\r\n\r\n",
            "HTTP/1.1 199 X\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 102 X\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        ])
        let count = random.pick([1, 31, 32, 33, 1000])
        var steps: [HostileResponse.Step] = [.text(String(repeating: interim, count: count))]
        if random.once(in: 3) { steps.append(.flood(interim)) }
        steps.append(.text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
        return HostileResponse("interim responses", steps)
    }

    // MARK: Ends

    /// A server that stops anywhere and keeps the connection open.
    private static func stall(_ random: inout some RandomNumberGenerator) -> HostileResponse {
        let text = random.pick([
            "", "H", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\u{1F}",
        ])
        return HostileResponse("stalls", [.text(text)], .stall)
    }

    /// A body without an end.
    private static func endless(_ random: inout some RandomNumberGenerator) -> HostileResponse {
        let isChunked = Bool.random(using: &random)
        let head = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(Int64.max)"
        let part = String(repeating: "x", count: 4096)
        var response = HostileResponse(
            "endless bodies",
            [
                .text("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n"),
                .flood(Array((isChunked ? "1000\r\n\(part)\r\n" : part).utf8), times: .max),
            ]
        )
        response.isEndless = true
        return response
    }

    /// The responses that end or stall a process which uses plain `URLSession` (Docs/ThreatModel.md).
    private static func fatalToFoundation(
        _ path: String,
        _ random: inout some RandomNumberGenerator
    ) -> HostileResponse {
        let kind = "fatal to Foundation"
        switch random.number(0...3) {
        case 0:
            let trailers = random.pick(["T: 1\r\n", "Content-Length: 5\r\nSet-Cookie: a=b\r\n"])
            return HostileResponse(
                kind,
                [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\(trailers)\r\n")],
                .keep
            )
        case 1:
            return HostileResponse(kind, [.text("HTTP/1.1 200 OK\r\nContent-Length: \(Int64.max)\r\n\r\nhello")])
        case 2:
            let head = "HTTP/1.1 302 Found\r\nLocation: \(path)\r\nContent-Length: 999999999999\r\n\r\n"
            return HostileResponse(kind, [.text(head), .flood("redirected ")])
        default:
            let fields = (0..<10_000).map { "Field-\($0): value\r\n" }.joined()
            return HostileResponse(kind, [.text("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 0\r\n\r\n")])
        }
    }
}
