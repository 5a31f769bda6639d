/// A time as zip archives store it: the local time where the archive was made, in steps of two seconds, from 1980 to
/// 2107.
///
/// The time zone is not recorded, so the value does not identify a point in time.
public struct ZipTime: Sendable, Hashable, CustomStringConvertible {
    /// The date in the upper and the time in the lower half, as MS-DOS packs them (APPNOTE 4.4.6).
    let packed: UInt32

    init(packed: UInt32) { self.packed = packed }

    /// Makes a time, or `nil` when a part is out of its range; odd seconds are rounded down.
    public init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        guard (1980...2107).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        let date = (year - 1980) << 9 | month << 5 | day
        let time = hour << 11 | minute << 5 | second / 2
        packed = UInt32(date) << 16 | UInt32(time)
    }

    /// The first day of 1980, at midnight: write this time where equal input must give equal archives.
    public static let earliest = ZipTime(packed: 0x0021_0000)

    /// The year.
    public var year: Int { 1980 + Int(packed >> 25) }
    /// The month, from 1; archives may contain 0 and 13 to 15.
    public var month: Int { Int(packed >> 21 & 0xF) }
    /// The day, from 1; archives may contain 0.
    public var day: Int { Int(packed >> 16 & 0x1F) }
    /// The hour; archives may contain values up to 31.
    public var hour: Int { Int(packed >> 11 & 0x1F) }
    /// The minute; archives may contain values up to 63.
    public var minute: Int { Int(packed >> 5 & 0x3F) }
    /// The second, an even number; archives may contain values up to 62.
    public var second: Int { Int(packed & 0x1F) * 2 }

    /// The time in the form `1980-01-01 00:00:00`.
    public var description: String {
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = [padded(year), padded(month), padded(day)].joined(separator: "-")
        return date + " " + [padded(hour), padded(minute), padded(second)].joined(separator: ":")
    }
}
