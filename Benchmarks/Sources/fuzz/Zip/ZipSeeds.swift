import Foundation
import WaystationArchive

/// Valid archives of every kind that can be read: written by the project's own writer, some then converted to another
/// form.
enum ZipSeeds {
    static func all() throws -> [Data] {
        let text = Data(String(repeating: "some text, some text; ", count: 30).utf8)
        let plain = try archive { writer in
            try writer.add("index.html", from: text)
            try writer.add("a/b/app.js", from: Data("stored".utf8), compression: .stored)
            try writer.addDirectory("empty")
        }
        let stored = try archive { try $0.add("one.txt", from: Data("one".utf8), compression: .stored) }
        let unicode = try archive { try $0.add("caf\u{E9}/\u{1F4BE}.txt", from: text) }
        let nothing = try archive { _ in }
        return try [plain, stored, unicode, nothing, described(plain), wide(plain), unmarked(stored), commented(plain)]
            .map { Data($0) }
    }

    private static func archive(_ build: (ZipWriter) throws -> Void) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let writer = ZipWriter { bytes.append(contentsOf: $0) }
        try build(writer)
        try writer.finish()
        return bytes
    }

    private static func changed(_ archive: [UInt8], _ body: (inout ZipParts) -> Void) throws -> [UInt8] {
        guard var parts = ZipParts(archive) else { throw Finding("a seed cannot be split") }
        body(&parts)
        return parts.bytes()
    }

    /// Puts the sizes after the data, as a writer that cannot seek does (APPNOTE 4.3.9).
    private static func described(_ archive: [UInt8]) throws -> [UInt8] {
        try changed(archive) { parts in
            for index in parts.entries.indices where parts.entries[index].name.last != UInt8(ascii: "/") {
                let central = parts.entries[index].central
                parts.entries[index].putBoth(.flags, (central.number(at: 8, 2) ?? 0) | 1 << 3)
                parts.entries[index].data += [0x50, 0x4B, 7, 8] + Array(central[16..<28])
                for place in 14..<26 { parts.entries[index].local[place] = 0 }
            }
        }
    }

    /// Writes sizes and offsets with 64 bits, although they are small (APPNOTE 4.5.3 and 4.3.14).
    private static func wide(_ archive: [UInt8]) throws -> [UInt8] {
        try changed(archive) { parts in
            for index in parts.entries.indices where parts.entries[index].name.last != UInt8(ascii: "/") {
                let central = parts.entries[index].central
                var sizes: [UInt8] = []
                sizes.append(central.number(at: 24, 4) ?? 0, 8)
                sizes.append(central.number(at: 20, 4) ?? 0, 8)
                parts.entries[index].localExtra = [1, 0, 16, 0] + sizes
                parts.entries[index].extra = [1, 0, 24, 0] + sizes + [UInt8](repeating: 0, count: 8)
                parts.entries[index].putBoth(.size, UInt32.max)
                parts.entries[index].putBoth(.compressedSize, UInt32.max)
                parts.entries[index].central.put(UInt32.max, at: 42, 4)
            }
            var record: [UInt8] = [0x50, 0x4B, 6, 6]
            record.append(44, 8)
            record += [45, 3, 45, 0] + [UInt8](repeating: 0, count: 40)
            record += [0x50, 0x4B, 6, 7] + [UInt8](repeating: 0, count: 12) + [1, 0, 0, 0]
            parts.wideEnd = record
            for (place, width) in [(8, 2), (10, 2), (12, 4), (16, 4)] { parts.end.put(UInt64.max, at: place, width) }
        }
    }

    /// Gives an entry a name in the original PC's code page (APPNOTE D.1), with its UTF-8 form in an extra field
    /// (4.6.9).
    private static func unmarked(_ archive: [UInt8]) throws -> [UInt8] {
        try changed(archive) { parts in
            guard !parts.entries.isEmpty else { return }
            parts.entries[0].putBoth(.flags, 0)
            parts.entries[0].rename([0x81, 0x2E, 0x74, 0x78, 0x74])
            var extra: [UInt8] = [0x75, 0x70, 11, 0, 1]
            extra.append(CRC32.of(parts.entries[0].name), 4)
            extra += Array("\u{FC}.txt".utf8)
            parts.entries[0].extra = extra
            parts.entries[0].localExtra = extra
        }
    }

    private static func commented(_ archive: [UInt8]) throws -> [UInt8] {
        try changed(archive) { parts in
            parts.end += Array("a comment".utf8)
            guard !parts.entries.isEmpty else { return }
            parts.entries[0].comment = Array("another".utf8)
        }
    }
}
