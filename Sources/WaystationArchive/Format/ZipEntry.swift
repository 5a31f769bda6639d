/// A file or directory in a zip archive, as the archive's directory describes it.
public struct ZipEntry: Sendable, Hashable {
    /// The entry's relative path, checked: segments joined by `/`, without a slash at its end.
    public let path: String
    /// Whether the entry is a directory; otherwise it is a file.
    public let isDirectory: Bool
    /// The entry's size in bytes.
    public let size: Int
    /// The entry's size in the archive, in bytes.
    public let compressedSize: Int
    /// The CRC-32 of the entry's bytes.
    public let crc32: UInt32
    /// The method by which the entry's bytes are stored.
    public let method: ZipMethod
    /// When the entry was last changed.
    public let modified: ZipTime
    /// The start of the entry's local header in the source.
    public let offset: Int
    /// The start of the entry's compressed bytes in the source.
    let dataOffset: Int
}

/// The method by which an entry's bytes are stored (APPNOTE 4.4.5): the two that every tool knows.
public enum ZipMethod: UInt16, Sendable, Hashable, CaseIterable {
    /// Stored without compression.
    case stored = 0
    /// Compressed by deflate (RFC 1951).
    case deflated = 8
}

/// The general purpose bits of an entry (APPNOTE 4.4.4).
struct EntryFlags: OptionSet, Hashable {
    let rawValue: UInt16

    static let encrypted = EntryFlags(rawValue: 1 << 0)
    /// The CRC and the sizes follow the data.
    static let descriptor = EntryFlags(rawValue: 1 << 3)
    /// The data are a patch for another file.
    static let patched = EntryFlags(rawValue: 1 << 5)
    private static let stronglyEncrypted = EntryFlags(rawValue: 1 << 6)
    static let utf8 = EntryFlags(rawValue: 1 << 11)
    /// The local header hides its fields, because the directory is encrypted.
    static let masked = EntryFlags(rawValue: 1 << 13)

    private static let encryption: EntryFlags = [.encrypted, .stronglyEncrypted, .masked]
    /// The flags with which the bytes of stored and deflated data are not what they are without them.
    static let changingData: EntryFlags = encryption.union(.patched)

    /// Refuses flags that change the data.
    ///
    /// The others tell how the data were compressed, or mean nothing for the two methods that are read; readers ignore
    /// them, and some writers set them.
    func check(entry: String) throws(ZipError) {
        guard isDisjoint(with: Self.encryption) else {
            throw ZipError(.encrypted, entry: entry, "is encrypted; create the archive again, without a password")
        }
        guard !contains(.patched) else {
            throw ZipError(
                .unsupportedFlags,
                entry: entry,
                "is a patch for another file (flag 5); create the archive again, with plain deflate"
            )
        }
    }
}

/// The extra fields of a header (APPNOTE 4.5): each has an identifier, a length, and that many bytes.
struct ExtraFields {
    enum Identifier: UInt16 {
        case zip64 = 0x0001
        case pkwareUnix = 0x000D
        case strongEncryption = 0x0017
        case infoZipUnix = 0x756E
        case unicodePath = 0x7075
        case aes = 0x9901
    }

    private var fields: [Identifier: ArraySlice<UInt8>] = [:]

    /// Reads the fields that this module uses.
    ///
    /// - Throws: ``ZipError`` when the lengths do not add up, or a field occurs twice with different bytes.
    init(_ bytes: ArraySlice<UInt8>, entry: String) throws(ZipError) {
        func damaged(_ problem: String) -> ZipError {
            ZipError(.damagedExtraField, entry: entry, "\(problem); fetch or create the archive again")
        }
        var rest = bytes
        while rest.count >= 4 {
            let length = Int(rest.field(2, as: UInt16.self))
            guard rest.count - 4 >= length else { throw damaged("has an extra field that runs past its header") }
            if let identifier = Identifier(rawValue: rest.field(0, as: UInt16.self)) {
                let content = rest.dropFirst(4).prefix(length)
                // Readers differ in which of two fields they take.
                guard fields.updateValue(content, forKey: identifier).map({ $0 == content }) ?? true else {
                    throw damaged("has an extra field twice, with different bytes")
                }
            }
            rest = rest.dropFirst(4 + length)
        }
        // Tools that align data pad with up to three zeros, which are too few for a field.
        guard rest.allSatisfy({ $0 == 0 }) else { throw damaged("has bytes after its extra fields") }
    }

    subscript(identifier: Identifier) -> ArraySlice<UInt8>? { fields[identifier] }
}

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

extension RandomAccessCollection<UInt8> where Index == Int {
    /// The little-endian integer at an offset from the start; all its bytes must be in the collection.
    func field<Integer: FixedWidthInteger>(_ offset: Int, as type: Integer.Type) -> Integer {
        var value: Integer = 0
        for index in stride(from: MemoryLayout<Integer>.size - 1, through: 0, by: -1) {
            value = value << 8 | Integer(truncatingIfNeeded: self[startIndex + offset + index])
        }
        return value
    }
}

extension [UInt8] {
    /// Appends an integer, lowest byte first.
    mutating func append<Integer: FixedWidthInteger>(littleEndian value: Integer) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

extension Int {
    /// The sum, or `nil` when it is too large for an `Int`.
    func adding(_ other: Int) -> Int? {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? nil : sum
    }
}
