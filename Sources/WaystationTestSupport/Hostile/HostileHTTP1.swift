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

/// Heads whose fields are too many, too long or malformed.
enum HostileFields {
    static func response(_ random: inout some RandomNumberGenerator) -> HostileResponse {
        var steps: [HostileResponse.Step] = [.text("HTTP/1.1 200 OK\r\n")]
        for _ in 0..<random.number(1...3) { steps.append(field(&random)) }
        steps.append(.text("Content-Length: 5\r\n\r\nhello"))
        return HostileResponse("fields", steps)
    }

    private static func field(_ random: inout some RandomNumberGenerator) -> HostileResponse.Step {
        switch random.number(0...11) {
        case 0: .text("Huge: \(long("v", &random))\r\n")
        case 1: .text("\(long("n", &random)): huge\r\n")
        case 2: .text((0..<random.pick([999, 1000, 1001, 20_000])).map { "F\($0): v\r\n" }.joined())
        case 3: .text(String(repeating: "Same: v\r\n", count: random.pick([2, 999, 5000])))
        case 4: .flood("Endless: field\r\n")
        case 5: .flood("endless")
        case 6: .text("Folded: a\r\n" + String(repeating: " folded\r\n", count: random.pick([1, 100, 50_000])))
        case 7: .text(random.pick(["A: \u{0}\r\n", "A\u{0}: b\r\n", "A: b\rc\r\n", "A: b\nB: c\r\n", "A: b\r\r\n"]))
        case 8: .text(random.pick(["A\r\n", ": b\r\n", "A : b\r\n", " A: b\r\n", "A:b\r\n", "A:\r\n", "A\t: b\r\n"]))
        case 9: .text("Set-Cookie: \(random.pick(["", "=", "a", "a=b; Domain=.", "a=\(long("c", &random))"]))\r\n")
        case 10:
            .text("Cache-Control: \(random.pick(["max-age=", "max-age=99999999999999999999", "=,=,\"", "a=\""]))\r\n")
        default: .send(Array("A: ".utf8) + (0..<20).map { _ in .random(in: 0...255, using: &random) } + [13, 10])
        }
    }

    private static func long(_ text: String, _ random: inout some RandomNumberGenerator) -> String {
        String(repeating: text, count: random.pick([1000, 90_000, 262_100, 262_144, 1 << 20]))
    }
}

/// Redirects that lead in circles, to nowhere, or have endless bodies.
enum HostileRedirects {
    static func response(to path: String, _ random: inout some RandomNumberGenerator) -> HostileResponse {
        let status = random.pick(["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent", "300 X"])
        let location = random.pick([
            path, path, path, "\(path)?\(String(repeating: "q", count: 60_000))", "", "//", "///", "http://",
            "http://[::1",
            "http://[::1]:1/", "http://127.0.0.1:1/", "http://127.0.0.1:99999/", "http://\u{0}/", "javascript:alert(1)",
            "file:///etc/passwd", "data:,x", "mailto:a@b", "http://user:pass@127.0.0.1:1/", "%", "?", "#",
            "http://\(String(repeating: "h", count: 5000))/", "HTTP://127.0.0.1:0/", "\u{FF}",
        ])
        var fields = "Location: \(location)\r\n"
        if random.once(in: 6) { fields += "Location: \(random.pick([path, "/other"]))\r\n" }
        if random.once(in: 6) { fields += "Set-Cookie: a=\(random.number(0...9))\r\n" }
        switch random.number(0...3) {
        case 0:
            return HostileResponse(
                "redirects",
                [.text("HTTP/1.1 \(status)\r\n\(fields)\r\n"), .flood(String(repeating: "endless ", count: 512))]
            )
        case 1:
            fields += "Content-Length: 9\r\n"
            return HostileResponse("redirects", [.text("HTTP/1.1 \(status)\r\n\(fields)\r\nshort")])
        case 2:
            fields += "Content-Length: 0\r\n"
            return HostileResponse("redirects", [.text("HTTP/1.1 \(status)\r\n\(fields)\r\n")], .keep)
        default:
            return HostileResponse("redirects", [.text("HTTP/1.1 \(status)\r\n\(fields)\r\n")])
        }
    }
}

/// Chunked bodies whose sizes, extensions or trailers are wrong or endless.
enum HostileChunks {
    private static let sizes = [
        "5", "05", "00000000000000000000000005", "5 ", " 5", "+5", "-5", "0x5", "5h", "", "g", "5;", "5;a", "5;a=\"b",
        "7FFFFFFFFFFFFFFF", "8000000000000000", "FFFFFFFFFFFFFFFF", "10000000000000000", "10000000000000005",
        "fffffffffffffffffffffffffffffffffffff", "\u{0}5", "5\r", "5\n",
    ]
    private static let trailers = [
        "", "T: 1\r\n", "T:\r\n", "T\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", ": x\r\n",
        " folded\r\n", "T: \u{0}\r\n", "HTTP/1.1 200 OK\r\n",
    ]

    static func response(_ random: inout some RandomNumberGenerator) -> HostileResponse {
        var steps: [HostileResponse.Step] = [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")]
        for _ in 0..<random.number(0...3) { steps.append(chunk(&random)) }
        steps.append(.text(random.pick(["0\r\n", "0\r\n", "0\r\n", "00\r\n", "0;a=b\r\n", "0\n", ""])))
        switch random.number(0...7) {
        case 0: steps.append(.flood("Endless: trailer\r\n"))
        case 1: steps.append(.text((0..<random.pick([999, 1001, 20_000])).map { "T\($0): v\r\n" }.joined()))
        case 2: steps.append(.text("T: \(String(repeating: "t", count: 300_000))\r\n"))
        default: steps.append(.text(random.pick(trailers)))
        }
        steps.append(.text(random.pick(["\r\n", "\r\n", "\n", "\r", ""])))
        return HostileResponse("chunks", steps)
    }

    private static func chunk(_ random: inout some RandomNumberGenerator) -> HostileResponse.Step {
        switch random.number(0...10) {
        case 0: .flood("5;endless=extension")
        case 1: .text("5;a=\"\(String(repeating: "e", count: random.pick([1000, 262_144, 2 << 20])))\"\r\nhello\r\n")
        case 2: .text(String(repeating: "1\r\nx\r\n", count: random.pick([10, 1000, 50_000])))
        case 3: .flood("0000000000000000")
        case 4: .text("5\r\nhello")
        case 5...7: .text("5\r\nhello\r\n")
        default: .text("\(random.pick(sizes))\r\nhello\(random.pick(["\r\n", "\r\n", "\n", "", "\r\n\r\n"]))")
        }
    }
}

/// Responses whose lengths contradict each other, overflow, or are not kept.
enum HostileFraming {
    private static let lengths = [
        "5", "4", "6", "0", "-1", "+5", "5 ", " 5", "5,5", "5, 6", "", "0x5", "5.0", "5e0", "\u{0665}", "05",
        "five", "5\u{0}",
        "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
        "18446744073709551621", "4294967301", "99999999999999999999999999999999999999999999",
    ]
    private static let codings = [
        "chunked", "CHUNKED", "chunked, chunked", "gzip, chunked", "chunked, gzip", "identity", "xchunked",
        "chunked;a=b", "", ",", "chunked\u{0}", "\u{B}chunked",
    ]

    static func response(_ random: inout some RandomNumberGenerator) -> HostileResponse {
        switch random.number(0...4) {
        case 0: cutOff(&random)
        case 1: afterTheEnd(&random)
        default: contradictory(&random)
        }
    }

    private static func contradictory(_ random: inout some RandomNumberGenerator) -> HostileResponse {
        var fields = ""
        for _ in 0..<random.number(1...3) {
            let isLength = random.number(0...2) > 0
            fields +=
                isLength
                ? "Content-Length: \(random.pick(lengths))\r\n" : "Transfer-Encoding: \(random.pick(codings))\r\n"
        }
        let body = random.pick(["hello", "5\r\nhello\r\n0\r\n\r\n", "", "hello world", "0\r\n\r\n"])
        let status = random.pick(["200 OK", "200 OK", "204 No Content", "304 Not Modified", "404 Not Found"])
        return HostileResponse("framings", [.text("HTTP/1.1 \(status)\r\n\(fields)\r\n\(body)")])
    }

    /// A valid response that ends early, at any place.
    private static func cutOff(_ random: inout some RandomNumberGenerator) -> HostileResponse {
        let body = String(repeating: "cut off anywhere; ", count: random.pick([1, 100, 10_000]))
        let chunked = "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
        let text = random.pick([
            "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunked)",
            "HTTP/1.0 200 OK\r\n\r\n\(body)",
        ])
        return HostileResponse("framings", [.send(Array(text.utf8.prefix(random.number(0...text.utf8.count))))])
    }

    /// A complete response, followed by bytes that no request asked for.
    private static func afterTheEnd(_ random: inout some RandomNumberGenerator) -> HostileResponse {
        let junk = random.pick([
            "\r\n", "x", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad", String(repeating: "junk", count: 100_000),
        ])
        return HostileResponse(
            "framings",
            [.text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), .text(junk)],
            random.once(in: 2) ? .keep : .close
        )
    }
}
