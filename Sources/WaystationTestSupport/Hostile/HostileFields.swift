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
