import WaystationStorage

/// Bytes of a file that belong to no entry and to no record of its archive.
///
/// Real files have some: the program ahead of a self-extracting archive, zeros to fill a block of a tape, a signature
/// ahead of the directory. They do no harm as long as no reader can find a part of another archive in them.
enum JunkScan {
    /// The last two bytes of the signatures by which readers find entries, directories and end records (APPNOTE 4.3).
    private static let records: [(UInt8, UInt8)] = [(1, 2), (3, 4), (5, 6), (6, 6), (6, 7)]
    private static let windowSize = 64 << 10

    /// Refuses junk in which a reader could find another archive, unless the limits tolerate it at this place.
    ///
    /// - Throws: ``ZipError``, or the source's error.
    static func check(_ range: Range<Int>, of source: any ByteSource, at place: Place, limits: ZipLimits) throws {
        guard !limits.toleratedJunk.contains(place.tolerance), try hasRecord(range, of: source) else { return }
        throw ZipError(
            place.code,
            "the archive has \(range.count) bytes \(place.words), with parts of another archive in them; create it "
                + "again, or allow `\(place.name)` junk"
        )
    }

    /// Where junk lies.
    enum Place {
        case leading, between, trailing

        fileprivate var tolerance: ZipLimits.Junk {
            switch self {
            case .leading: .leading
            case .between: .between
            case .trailing: .trailing
            }
        }

        fileprivate var code: ZipError.Code {
            switch self {
            case .leading: .leadingJunk
            case .between: .junkBetweenEntries
            case .trailing: .trailingJunk
            }
        }

        fileprivate var words: String {
            switch self {
            case .leading: "before its first entry"
            case .between: "that belong to no entry"
            case .trailing: "after its end"
            }
        }

        fileprivate var name: String {
            switch self {
            case .leading: ".leading"
            case .between: ".between"
            case .trailing: ".trailing"
            }
        }
    }

    /// Whether the bytes contain a signature, also one that lies across two windows.
    private static func hasRecord(_ range: Range<Int>, of source: any ByteSource) throws -> Bool {
        var start = range.lowerBound
        while range.upperBound - start >= 4 {
            let bytes = try source.bytes(at: start, count: min(windowSize, range.upperBound - start))
            for index in 0...bytes.count - 4 where bytes[index] == 0x50 && bytes[index + 1] == 0x4B {
                if records.contains(where: { $0 == (bytes[index + 2], bytes[index + 3]) }) { return true }
            }
            start += bytes.count - 3
        }
        return false
    }
}
