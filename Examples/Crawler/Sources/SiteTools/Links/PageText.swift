import Foundation

/// A page's bytes as UTF-8.
///
/// The encoding is the one that a browser would choose among those still in use: a byte order mark wins, then the
/// response's charset, then a `meta` in the first 1024 bytes, then UTF-8 if the bytes are valid, otherwise
/// windows-1252.
enum PageText {
    static func utf8(_ bytes: Data, charset: String?) -> Data {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return bytes.dropFirst(3) }
        if bytes.starts(with: [0xFE, 0xFF]) { return decoded(bytes, .utf16BigEndian) }
        if bytes.starts(with: [0xFF, 0xFE]) { return decoded(bytes, .utf16LittleEndian) }
        switch (charset ?? declaredCharset(in: bytes))?.lowercased() {
        case "utf-8", "utf8":
            return bytes
        case "iso-8859-1", "latin1", "latin-1", "windows-1252", "cp1252", "us-ascii", "ascii", "iso8859-1":
            // The WHATWG Encoding standard reads all of these as windows-1252.
            return windows1252(bytes)
        case let name?:
            return named(name, bytes) ?? bytes
        case nil:
            return isValidUTF8(bytes) ? bytes : windows1252(bytes)
        }
    }

    /// The charset that a document declares itself, found as HTML's prescan does for the common forms: `charset=`
    /// within a `meta` tag, or an XML declaration's `encoding=`.
    static func declaredCharset(in bytes: Data) -> String? {
        let head = String(decoding: bytes.prefix(1024), as: UTF8.self).lowercased()
        if head.hasPrefix("<?xml"), let end = head.range(of: "?>"),
            let key = head.range(of: "encoding=", range: head.startIndex..<end.lowerBound)
        {
            return value(after: key.upperBound, in: head)
        }
        var start = head.startIndex
        while let meta = head.range(of: "<meta", range: start..<head.endIndex) {
            let end = head[meta.upperBound...].firstIndex(of: ">") ?? head.endIndex
            if let key = head.range(of: "charset", range: meta.upperBound..<end) {
                let rest = head[key.upperBound..<end].drop { $0.isWhitespace }
                if rest.first == "=" { return value(after: rest.index(after: rest.startIndex), in: head) }
            }
            start = end
        }
        return nil
    }

    private static func value(after index: String.Index, in text: String) -> String? {
        let rest = text[index...].drop { $0.isWhitespace || $0 == "\"" || $0 == "'" }
        let name = rest.prefix { $0.isLetter || $0.isNumber || "-_:.".contains($0) }
        return name.isEmpty ? nil : String(name)
    }

    private static func isValidUTF8(_ bytes: Data) -> Bool {
        bytes.withUnsafeBytes { String(validating: $0.bindMemory(to: UInt8.self), as: UTF8.self) != nil }
    }

    private static func decoded(_ bytes: Data, _ encoding: String.Encoding) -> Data {
        String(data: bytes.dropFirst(2), encoding: encoding).map { Data($0.utf8) } ?? bytes
    }

    private static func windows1252(_ bytes: Data) -> Data {
        String(data: bytes, encoding: .windowsCP1252).map { Data($0.utf8) }
            // Five bytes of windows-1252 are undefined; Latin-1 has a meaning for every byte.
            ?? String(data: bytes, encoding: .isoLatin1).map { Data($0.utf8) } ?? bytes
    }

    private static func named(_ name: String, _ bytes: Data) -> Data? {
        let encoding: String.Encoding? =
            switch name {
            case "iso-8859-2", "latin2": .isoLatin2
            case "windows-1250": .windowsCP1250
            case "windows-1251": .windowsCP1251
            case "windows-1253": .windowsCP1253
            case "windows-1254", "iso-8859-9": .windowsCP1254
            case "euc-jp": .japaneseEUC
            case "shift_jis", "shift-jis", "sjis": .shiftJIS
            case "iso-2022-jp": .iso2022JP
            case "utf-16", "utf-16le": .utf16LittleEndian
            case "utf-16be": .utf16BigEndian
            default: nil
            }
        return encoding.flatMap { String(data: bytes, encoding: $0) }.map { Data($0.utf8) }
    }
}
