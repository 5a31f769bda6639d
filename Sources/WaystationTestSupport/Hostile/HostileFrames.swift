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
