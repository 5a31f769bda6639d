/// Damages one structure of a zip, and corrects the rest or leaves it as it was.
enum ZipDamage {
    private static let names: [[UInt8]] =
        [
            "../out", "/out", "a/../../out", "a/./b", "a//b", "a\\b", "C:out", "a/", "", ".", "..", "A", "a", "a/b",
            "a/b/c",
            "caf\u{E9}", "cafe\u{301}", "stra\u{DF}e", "STRASSE", "\u{1F4BE}", "a\0b", "\u{202E}b", "nul", "a.", "a ",
        ].map { Array($0.utf8) } + [
            Array(repeating: 0x61, count: 256), [0x81, 0xE1, 0xFF], [0xC3], [0xED, 0xA0, 0x80],
            Array("\(String(repeating: "d/", count: 33))f".utf8),
        ]

    static func damaged(_ archive: [UInt8], using random: inout SeededGenerator) -> [UInt8]? {
        guard var parts = ZipParts(archive) else { return nil }
        for _ in 0..<Int.random(in: 1...3, using: &random) { damage(&parts, using: &random) }
        return parts.bytes(isSound: Int.random(in: 0..<4, using: &random) > 0)
    }

    private static func damage(_ parts: inout ZipParts, using random: inout SeededGenerator) {
        guard let index = parts.entries.indices.randomElement(using: &random) else {
            return change(&parts.end, using: &random)
        }
        switch Int.random(in: 0..<13, using: &random) {
        case 0, 1:
            guard let field = ZipParts.Entry.Field.both.randomElement(using: &random) else { return }
            let value = parts.entries[index].local.number(at: field.local, field.width) ?? 0
            parts.entries[index].putBoth(field, Edge.number(near: value, using: &random))
        case 2: change(&parts.entries[index].local, using: &random)
        case 3: change(&parts.entries[index].central, using: &random)
        case 4: change(&parts.entries[index].extra, using: &random)
        case 5:
            change(&parts.entries[index].localExtra, using: &random)
        case 6: parts.entries[index].rename(names.randomElement(using: &random) ?? [])
        case 7: change(&parts.entries[index].name, using: &random)
        case 8:
            change(&parts.entries[index].data, using: &random)
            if Bool.random(using: &random) { parts.entries[index].settle() }
        case 9:
            var copy = parts.entries[index]
            if Bool.random(using: &random) { copy.rename(copy.name + names[11]) }
            if parts.entries.count < 8 { parts.entries.insert(copy, at: index) }
        case 10: parts.entries.remove(at: index)
        case 11: change(&parts.wideEnd, using: &random)
        default: change(&parts.end, using: &random)
        }
    }

    /// Changes one number at any place and of any width, or adds or removes some bytes.
    private static func change(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
        guard let place = bytes.indices.randomElement(using: &random) else {
            return bytes = names.randomElement(using: &random) ?? []
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1, 2:
            let width = [1, 2, 4, 8].randomElement(using: &random) ?? 2
            // Most fields are at even places.
            let even = place & ~1
            bytes.put(Edge.number(near: bytes.number(at: even, width) ?? 0, using: &random), at: even, width)
        case 3: bytes.remove(at: place)
        case 4: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        default: bytes.removeSubrange(place...)
        }
    }
}
