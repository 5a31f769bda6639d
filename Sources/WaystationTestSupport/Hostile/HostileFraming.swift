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
