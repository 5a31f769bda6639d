/// A zip split into its parts, so that one part can be wrong while the rest is corrected again.
///
/// The splitting is lenient: it keeps what it can of an archive that is already damaged.
struct ZipParts {
    struct Entry {
        /// The 30 bytes of the local header (APPNOTE 4.3.7), and the 46 bytes of the directory header (4.3.12).
        var local: [UInt8]
        var central: [UInt8]
        var localName: [UInt8]
        var localExtra: [UInt8]
        /// Everything up to the next entry: the data, and the descriptor if there is one.
        var data: [UInt8]
        var name: [UInt8]
        var extra: [UInt8]
        var comment: [UInt8]
    }

    var entries: [Entry] = []
    /// The zip64 end record and its locator; empty in an archive without zip64.
    var wideEnd: [UInt8] = []
    /// The end record with its comment.
    var end: [UInt8]

    init?(_ bytes: [UInt8]) {
        let last = bytes.count - 22
        guard last >= 0,
            let endAt = (max(0, last - 0xFFFF)...last).last(where: { bytes.number(at: $0, 4) == 0x0605_4B50 })
        else { return nil }
        end = Array(bytes[endAt...])
        var (size, start) = (end.number(at: 12, 4), end.number(at: 16, 4))
        if let wideAt = bytes.number(at: endAt - 20 + 8, 8).flatMap({ Int(exactly: $0) }),
            bytes.number(at: endAt - 20, 4) == 0x0706_4B50, bytes.number(at: wideAt, 4) == 0x0606_4B50, wideAt < endAt
        {
            wideEnd = Array(bytes[wideAt..<endAt])
            (size, start) = (wideEnd.number(at: 40, 8), wideEnd.number(at: 48, 8))
        }
        guard let size, let start, var place = Int(exactly: start), Int(exactly: size) != nil else { return nil }
        let directory = place
        var offsets: [Int] = []
        while bytes.number(at: place, 4) == 0x0201_4B50, entries.count < 64 {
            guard let central = bytes.part(place, 46), let name = bytes.part(place + 46, Self.length(central, 28)),
                let extra = bytes.part(place + 46 + name.count, Self.length(central, 30)),
                let comment = bytes.part(place + 46 + name.count + extra.count, Self.length(central, 32))
            else { return nil }
            place += 46 + name.count + extra.count + comment.count
            let offset =
                Self.wideOffset(in: extra, central).flatMap { extra.number(at: $0, 8) } ?? central.number(at: 42, 4)
            guard let offset = offset.flatMap({ Int(exactly: $0) }), let local = bytes.part(offset, 30),
                let localName = bytes.part(offset + 30, Self.length(local, 26)),
                let localExtra = bytes.part(offset + 30 + localName.count, Self.length(local, 28))
            else { return nil }
            offsets.append(offset)
            entries.append(
                Entry(
                    local: local,
                    central: central,
                    localName: localName,
                    localExtra: localExtra,
                    data: [],
                    name: name,
                    extra: extra,
                    comment: comment
                )
            )
        }
        for (index, offset) in offsets.enumerated() {
            let entry = entries[index]
            let dataStart = offset + 30 + entry.localName.count + entry.localExtra.count
            let next = offsets.filter { $0 > offset }.min() ?? directory
            guard let data = bytes.part(dataStart, next - dataStart) else { return nil }
            entries[index].data = data
        }
    }

    /// The archive, either with corrected lengths, offsets and counts, or with those in the headers.
    func bytes(isSound: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for var entry in entries {
            if isSound {
                entry.local.put(entry.localName.count, at: 26, 2)
                entry.local.put(entry.localExtra.count, at: 28, 2)
                entry.central.put(entry.name.count, at: 28, 2)
                entry.central.put(entry.extra.count, at: 30, 2)
                entry.central.put(entry.comment.count, at: 32, 2)
                if let wide = Self.wideOffset(in: entry.extra, entry.central) {
                    entry.extra.put(bytes.count, at: wide, 8)
                } else {
                    entry.central.put(bytes.count, at: 42, 4)
                }
            }
            bytes += entry.local + entry.localName + entry.localExtra + entry.data
            directory += entry.central + entry.name + entry.extra + entry.comment
        }
        var (wideEnd, end) = (wideEnd, end)
        if isSound {
            for (place, width, number) in [
                (24, 8, entries.count), (32, 8, entries.count), (40, 8, directory.count), (48, 8, bytes.count),
                (wideEnd.count - 12, 8, bytes.count + directory.count),
            ] where !wideEnd.isEmpty { wideEnd.put(number, at: place, width) }
            for (place, width, number) in [
                (8, 2, entries.count), (10, 2, entries.count), (12, 4, directory.count), (16, 4, bytes.count),
                (20, 2, end.count - 22),
            ] where wideEnd.isEmpty || end.number(at: place, width) != UInt64.max >> (64 - 8 * UInt64(width)) {
                end.put(number, at: place, width)
            }
        }
        return bytes + directory + wideEnd + end
    }

    private static func length(_ header: [UInt8], _ place: Int) -> Int { Int(header.number(at: place, 2) ?? 0) }

    /// The place of the local header's offset in the zip64 extra field; nil when it is not there (APPNOTE 4.5.3).
    private static func wideOffset(in extra: [UInt8], _ central: [UInt8]) -> Int? {
        guard central.number(at: 42, 4) == 0xFFFF_FFFF else { return nil }
        var place = 0
        while let id = extra.number(at: place, 2), let size = extra.number(at: place + 2, 2) {
            guard id != 1 else {
                let ahead = [20, 24].filter { central.number(at: $0, 4) == 0xFFFF_FFFF }.count
                return 8 * (ahead + 1) <= size ? place + 4 + 8 * ahead : nil
            }
            place += 4 + Int(size)
        }
        return nil
    }
}

extension ZipParts.Entry {
    /// Sets the same field in the local header and in the directory header; the places are those of APPNOTE 4.3.
    mutating func putBoth(_ field: Field, _ number: some FixedWidthInteger) {
        local.put(number, at: field.local, field.width)
        central.put(number, at: field.local + (field.local < 26 ? 2 : 0), field.width)
    }

    struct Field {
        let local: Int
        let width: Int
        static let flags = Field(local: 6, width: 2)
        static let method = Field(local: 8, width: 2)
        static let time = Field(local: 10, width: 4)
        static let crc32 = Field(local: 14, width: 4)
        static let compressedSize = Field(local: 18, width: 4)
        static let size = Field(local: 22, width: 4)
        static let both = [flags, method, time, crc32, compressedSize, size]
    }

    var isStored: Bool { central.number(at: 10, 2) == 0 }

    /// Corrects the CRC and the sizes of a stored entry.
    mutating func settle() {
        guard isStored else { return }
        putBoth(.crc32, CRC32.of(data))
        putBoth(.size, data.count)
        putBoth(.compressedSize, data.count)
    }

    mutating func rename(_ new: [UInt8]) { (name, localName) = (new, new) }
}

/// The checksum of zip, computed bit by bit, which is fast enough for short inputs.
enum CRC32 {
    static func of(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 0 ? 0 : 0xEDB8_8320) }
        }
    }
}
