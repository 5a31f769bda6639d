/// The floods of HTTP/2 that are known by names of their own: frames that cost the client more than the server.
enum HostileFloods {
    /// More frames than any client needs to accept.
    private static let times = 100_000

    static func response(on id: UInt32, _ random: inout some RandomNumberGenerator) -> HostileResponse {
        let ok = HostileHTTP2.ok
        let steps: [HostileResponse.Step]
        switch random.number(0...10) {
        // Rapid reset, as a server can do it.
        case 0: steps = [.flood(RawFrames.headers(id, ok) + RawFrames.reset(id, 8), times: times)]
        case 1: steps = [.flood(RawFrames.reset(id + 2, 8), times: times)]
        case 2:
            let size = random.pick([0, 1, 16_000])
            let part = RawFrames.frame(9, on: id, [UInt8](repeating: 0, count: size))
            steps = [.send(RawFrames.frame(1, on: id, [0x88])), .flood(part, times: times)]
        case 3: steps = [.flood(RawFrames.settings([(4, 65_535)]), times: times)]
        case 4: steps = [.flood(RawFrames.settings((0..<2700).map { (UInt16($0 + 10), 1) }), times: 4000)]
        case 5: steps = [.flood(RawFrames.ping(), times: times)]
        case 6: steps = [.send(RawFrames.headers(id, ok)), .flood(RawFrames.data(id), times: times)]
        case 7: steps = [.send(RawFrames.headers(id, ok)), .flood(RawFrames.data(id, [], padding: 255), times: times)]
        case 8: steps = [.flood(RawFrames.windowUpdate(random.pick([0, id]), 1), times: times)]
        case 9: steps = [.flood(RawFrames.headers(id, [(":status", "103"), ("link", "<a>")]), times: times)]
        default:
            let kind = random.pick([2, 10, 12, 99] as [UInt8])
            steps = [.flood(RawFrames.frame(kind, on: id, [0, 0, 0, 0, 1]), times: times)]
        }
        return HostileResponse("h2 floods", steps)
    }
}
