/// Hostile responses of HTTP/2 (RFC 9113 §10.5).
public enum HostileHTTP2 {
    /// Makes a response of any group.
    ///
    /// - Parameters:
    ///   - id: The stream of the request.
    ///   - path: The path of the request, for redirects to itself.
    ///   - random: Determines the response.
    /// - Returns: The steps of the server.
    public static func response(
        on id: UInt32,
        to path: String,
        using random: inout some RandomNumberGenerator
    ) -> HostileResponse {
        let response =
            switch random.number(0...11) {
            case 0...1: randomFrames(id, &random)
            case 2...3: mutated(id, &random)
            case 4...5: HostileFloods.response(on: id, &random)
            case 6: heads(id, &random)
            case 7: compression(id, &random)
            case 8: windows(id, &random)
            case 9: states(id, &random)
            case 10: coded(id, &random)
            default: random.once(in: 4) ? stall(id, &random) : redirect(id, path, &random)
            }
        return response.cut(using: &random)
    }

    static let ok = [(":status", "200")]

    /// A response that follows every rule.
    public static func valid(on id: UInt32, _ body: [UInt8] = Array("hello".utf8)) -> [UInt8] {
        RawFrames.headers(id, ok + [("content-length", "\(body.count)")]) + data(body, on: id)
    }

    /// A body in as many DATA frames as needed, the last of which ends the stream.
    private static func data(_ body: [UInt8], on id: UInt32) -> [UInt8] {
        let size = 16_000
        var rest = body[...]
        var frames: [UInt8] = []
        while rest.count > size {
            frames += RawFrames.data(id, Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return frames + RawFrames.data(id, Array(rest), isLast: true)
    }

    private static func randomFrames(_ id: UInt32, _ random: inout some RandomNumberGenerator) -> HostileResponse {
        var bytes: [UInt8] = []
        for _ in 0..<random.number(1...30) {
            let other = UInt32(random.number(0...9))
            let frame = HostileFrames.frame(on: random.once(in: 3) ? other : id, using: &random)
            bytes += random.once(in: 20) ? Damage.damaged(frame, using: &random) : frame
        }
        return HostileResponse("h2 frames", [.send(bytes)])
    }

    /// A valid response with damaged bytes.
    private static func mutated(_ id: UInt32, _ random: inout some RandomNumberGenerator) -> HostileResponse {
        let bytes =
            RawFrames.settings([(3, 100), (4, 65_535), (5, 16_384)]) + RawFrames.ping()
            + RawFrames.headers(id, [(":status", "103"), ("link", "<a>")])
            + RawFrames.headers(id, ok + [("content-length", "10"), ("set-cookie", "a=b"), ("etag", "\"1\"")])
            + RawFrames.data(id, Array("hello".utf8), padding: 3) + RawFrames.windowUpdate(0, 100)
            + RawFrames.data(id, Array("again".utf8)) + RawFrames.headers(id, [("trailer", "1")], isLast: true)
        return HostileResponse("h2 mutated", [.send(Damage.damaged(bytes, using: &random))])
    }

    /// Fields that RFC 9113 §8.2 and §8.3 forbid, and lengths that are not kept.
    private static func heads(_ id: UInt32, _ random: inout some RandomNumberGenerator) -> HostileResponse {
        let fields: [(String, String)] = random.pick([
            [], [("a", "b")], [(":status", "200"), (":status", "404")], [(":status", "")], [(":status", "99")],
            [(":status", "1000")], [(":status", "-20")], [("a", "b"), (":status", "200")], [(":path", "/")],
            [(":status", "101")], ok + [("Upper", "case")], ok + [("connection", "close")], ok + [("te", "gzip")],
            ok + [("transfer-encoding", "chunked")], ok + [("a", "b\r\nc: d")], ok + [("a\u{0}", "\u{0}")],
            ok + [("", "")], ok + [("content-length", "-1")], ok + [("content-length", "99999999999999999999")],
            ok + [("content-length", "4")], ok + [("content-length", "6")], ok + [("content-length", "5,6")],
            ok + (0..<random.pick([999, 1001, 5000])).map { ("f\($0)", "") },
        ])
        let head = RawFrames.block(fields)
        let body = RawFrames.data(id, Array("hello".utf8), isLast: true)
        return HostileResponse("h2 heads", [.send(split(head, on: id, by: random.pick([1000, 16_384])) + body)])
    }

    /// A block in HEADERS and as many CONTINUATION frames as needed.
    private static func split(_ block: [UInt8], on id: UInt32, by size: Int) -> [UInt8] {
        var rest = block[...]
        var bytes: [UInt8] = []
        repeat {
            let part = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            bytes += RawFrames.frame(bytes.isEmpty ? 1 : 9, flags: rest.isEmpty ? 0x4 : 0, on: id, part)
        } while !rest.isEmpty
        return bytes
    }

    /// Header blocks that break HPACK (RFC 7541), or that expand to far more than they have.
    private static func compression(_ id: UInt32, _ random: inout some RandomNumberGenerator) -> HostileResponse {
        let status: [UInt8] = [0x88]
        // A field of 4,000 bytes that enters the dynamic table, and is then named again and again by one byte.
        let large = [0x40] + RawFrames.block([("a", String(repeating: "b", count: 4000))]).dropFirst()
        let block: [UInt8] = random.pick([
            [0x80], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0xBE],
            [0x3F, 0xE1, 0xFF, 0x03],
            [0x3F, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], status + [0x20], [0x20] + status,
            status + [0x00, 0xFF, 0xFF, 0xFF, 0xFF],
            status + [0x00, 0x81, 0xFF, 0x01, 0x61], status + [0x00, 0x01],
            status + large + [UInt8](repeating: 0xBE, count: 60),
            status + large + [UInt8](repeating: 0xBE, count: 12_000),
            (0..<random.number(1...60)).map { _ in UInt8.random(in: 0...255, using: &random) },
        ])
        return HostileResponse(
            "h2 compression",
            [.send(RawFrames.frame(1, flags: 0x4, on: id, block) + RawFrames.data(id, [1], isLast: true))]
        )
    }

    /// Windows that overflow, shrink or are ignored (RFC 9113 §6.9).
    private static func windows(_ id: UInt32, _ random: inout some RandomNumberGenerator) -> HostileResponse {
        let head = RawFrames.headers(id, ok)
        let steps: [HostileResponse.Step]
        switch random.number(0...4) {
        case 0:
            let grown = RawFrames.windowUpdate(random.pick([0, id]), 0x7FFF_FFFF)
            steps = [.send(grown + grown + valid(on: id))]
        case 1: steps = [.send(RawFrames.windowUpdate(random.pick([0, id]), 0) + valid(on: id))]
        case 2:
            let value = random.pick([0, 1, 0x7FFF_FFFF, 0x8000_0000, UInt32.max])
            steps = [.send(RawFrames.settings([(4, value), (4, 0x7FFF_FFFF)]) + valid(on: id))]
        default:
            // More than every window, with or without padding.
            let padding = random.once(in: 2) ? 255 : nil
            let part = RawFrames.data(id, [UInt8](repeating: 0, count: 16_000), padding: padding)
            steps = [.send(head), .flood(part, times: 2000)]
        }
        return HostileResponse("h2 windows", steps)
    }

    /// Frames that the state of their stream forbids (RFC 9113 §5.1), and frames of the wrong size.
    private static func states(_ id: UInt32, _ random: inout some RandomNumberGenerator) -> HostileResponse {
        let data = RawFrames.data(id, [1, 2, 3])
        let bytes: [UInt8] = random.pick([
            data, valid(on: id) + data, valid(on: id) + RawFrames.headers(id, ok), RawFrames.data(id + 200, [1]),
            RawFrames.headers(id + 200, ok), RawFrames.headers(2, ok), RawFrames.data(0, [1]), RawFrames.headers(0, ok),
            RawFrames.reset(id + 200, 0), RawFrames.reset(0, 0), RawFrames.reset(id, 7),
            RawFrames.reset(id, 0xFFFF_FFFF),
            RawFrames.headers(id, ok) + RawFrames.reset(id, 0) + data + data, RawFrames.frame(3, on: id, [1]),
            RawFrames.frame(4, on: id, []), RawFrames.frame(4, [1]), RawFrames.frame(6, [1]),
            RawFrames.frame(8, on: id, [1]),
            RawFrames.frame(9, flags: 4, on: id, [0x88]), RawFrames.frame(1, on: id, [0x88]) + data,
            RawFrames.frame(1, flags: 0x2C, on: id, [255, 0, 0, 0, 1]),
            RawFrames.frame(0, flags: 0x8, on: id, [255, 0]),
            RawFrames.frame(5, flags: 4, on: id, RawFrames.number(2) + [0x82]),
            RawFrames.frame(2, on: id, RawFrames.number(id) + [1]), RawFrames.settings([(5, 16_383)]),
            RawFrames.settings([(2, 1)]), RawFrames.frame(4, flags: 1, [0, 3, 0, 0, 0, 1]), RawFrames.goAway(last: 0),
            RawFrames.goAway(last: id) + RawFrames.goAway(last: 0x7FFF_FFFF),
            RawFrames.frame(77, flags: 255, on: id, [1]),
            [0xFF, 0xFF, 0xFF, 0x00, 0x00] + RawFrames.number(id) + [1], Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
            RawFrames.frame(0, on: id, [UInt8](repeating: 0, count: 16_385)),
        ])
        return HostileResponse("h2 states", [.send(bytes)] + (random.once(in: 3) ? [.send(valid(on: id))] : []))
    }

    private static func coded(_ id: UInt32, _ random: inout some RandomNumberGenerator) -> HostileResponse {
        var (codings, bytes) = random.pick(HostileCoding.bombs + HostileCoding.bodies)
        if random.once(in: 2) { bytes = Damage.damaged(bytes, using: &random) }
        let head = RawFrames.headers(id, ok + [("content-encoding", codings)])
        return HostileResponse("h2 codings", [.send(head + data(bytes, on: id))])
    }

    private static func redirect(
        _ id: UInt32,
        _ path: String,
        _ random: inout some RandomNumberGenerator
    ) -> HostileResponse {
        let isLast = random.once(in: 2)
        let head = RawFrames.headers(id, [(":status", "302"), ("location", path)], isLast: isLast)
        guard !isLast else { return HostileResponse("h2 redirects", [.send(head)], .keep) }
        let part = RawFrames.data(id, [UInt8](repeating: 0, count: 16_000))
        return HostileResponse("h2 redirects", [.send(head), .flood(part, times: 4000)])
    }

    private static func stall(_ id: UInt32, _ random: inout some RandomNumberGenerator) -> HostileResponse {
        let head = RawFrames.headers(id, ok)
        let bytes: [UInt8] = random.pick([
            [], head, head + RawFrames.data(id, [1]), RawFrames.frame(1, on: id, [0x88]),
            RawFrames.headers(id, [(":status", "103")]),
            Array(head.prefix(5)),
        ])
        return HostileResponse("h2 stalls", [.send(bytes)], .stall)
    }
}

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

/// Frames of HTTP/2, valid and not.
public enum HostileFrames {
    /// A frame of any kind, on one of the streams 0 to 9.
    public static func frame(using random: inout some RandomNumberGenerator) -> [UInt8] {
        let id = UInt32.random(in: 0...9, using: &random) | (random.once(in: 9) ? 0 : 1)
        return frame(on: id, using: &random)
    }

    /// A frame of any kind on one stream, or on the connection where its kind demands that.
    public static func frame(on id: UInt32, using random: inout some RandomNumberGenerator) -> [UInt8] {
        let anyNumber = UInt32.random(in: 0...(.max), using: &random)
        let number = random.pick([0, 1, 100, 16_384, 65_535, 0x7FFF_FFFF, anyNumber])
        let isLast = random.once(in: 4)
        switch random.number(0...23) {
        case 0...6:
            let fields = [
                [(":status", "200")], [(":status", "200"), ("content-length", "3")], [(":status", "103")], [("x", "y")],
                [(":status", "204")], [(":status", "1")], [],
            ]
            return RawFrames.headers(id, random.pick(fields), isLast: isLast)
        case 7...13:
            let padding = random.once(in: 4) ? random.number(0...255) : nil
            let bytes = [UInt8](repeating: 0, count: random.number(0...16_000))
            return RawFrames.data(id, bytes, isLast: isLast, padding: padding)
        case 14: return RawFrames.reset(id, number)
        case 15...16: return RawFrames.settings([(.random(in: 1...9, using: &random), number)])
        case 17: return RawFrames.settingsAcknowledgement
        case 18: return RawFrames.ping(isAcknowledgement: isLast)
        case 19...20: return RawFrames.windowUpdate(id, number)
        case 21 where isLast: return RawFrames.goAway(last: id, number)
        case 22 where isLast: return RawFrames.frame(5, flags: 4, on: id, RawFrames.number(number))
        default:
            let payload = (0..<random.number(0...40)).map { _ in UInt8.random(in: 0...255, using: &random) }
            return RawFrames.frame(
                .random(in: 0...20, using: &random),
                flags: .random(in: 0...255, using: &random),
                on: id,
                payload
            )
        }
    }
}
