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
