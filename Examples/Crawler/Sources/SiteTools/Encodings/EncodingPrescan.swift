import Foundation

/// Finds the encoding that a document declares in its first 1024 bytes.
enum EncodingPrescan {
    /// The encoding of an HTML page, by HTML's "prescan a byte stream to determine its encoding".
    static func html(_ bytes: Data) -> WebEncoding? {
        if let encoding = utf16Declaration(bytes) { return encoding }
        var reader = MarkupReader(bytes)
        while !reader.isAtEnd {
            if reader.skips("<!--") {
                reader.skipComment()
            } else if reader.skips("<meta", before: [0x09, 0x0A, 0x0C, 0x0D, 0x20, 0x2F]) {
                if let encoding = meta(&reader) { return encoding }
            } else if reader.skipsStartOfTag() {
                while reader.attribute() != nil {}
            } else if reader.isAt("<!") || reader.isAt("</") || reader.isAt("<?") {
                reader.skip(past: UInt8(ascii: ">"))
            } else {
                reader.skipByte()
            }
        }
        return xmlDeclaration(bytes)
    }

    /// The encoding of an XML document (XML 1.0, appendix F).
    static func xml(_ bytes: Data) -> WebEncoding? {
        utf16Declaration(bytes) ?? xmlDeclaration(bytes)
    }

    /// The encoding of a style sheet: `@charset "…";` in exactly this form, as its first bytes.
    static func css(_ bytes: Data) -> WebEncoding? {
        let start = Array("@charset \"".utf8)
        guard bytes.starts(with: start) else { return nil }
        let label = bytes.dropFirst(start.count).prefix { $0 != UInt8(ascii: "\"") }
        guard bytes[label.endIndex...].starts(with: "\";".utf8) else { return nil }
        return WebEncoding(label: label).map { [.utf16BE, .utf16LE].contains($0) ? .utf8 : $0 }
    }

    /// The label in the `content` of `<meta http-equiv="content-type">` ("extracting a character encoding from a `meta`
    /// element").
    static func charset(inContent content: some StringProtocol) -> String? {
        let content = Array(content.utf8)
        var rest = content[...]
        let word = Array("charset".utf8)
        while rest.count >= word.count {
            guard rest.prefix(word.count).elementsEqual(word, by: { $0 | 0x20 == $1 }) else {
                rest = rest.dropFirst()
                continue
            }
            let value = rest.dropFirst(word.count).drop(while: MarkupReader.isSpace)
            guard value.first == UInt8(ascii: "=") else {
                rest = value
                continue
            }
            let text = value.dropFirst().drop(while: MarkupReader.isSpace)
            if let quote = text.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                let end = text.dropFirst().firstIndex(of: quote)
                return end.map { String(decoding: text[(text.startIndex + 1)..<$0], as: UTF8.self) }
            }
            let label = text.prefix { !MarkupReader.isSpace($0) && $0 != UInt8(ascii: ";") }
            return String(decoding: label, as: UTF8.self)
        }
        return nil
    }

    // MARK: Declarations

    /// `<?x` in UTF-16 without a byte order mark.
    private static func utf16Declaration(_ bytes: Data) -> WebEncoding? {
        if bytes.starts(with: [0x3C, 0x00, 0x3F, 0x00, 0x78, 0x00]) { return .utf16LE }
        if bytes.starts(with: [0x00, 0x3C, 0x00, 0x3F, 0x00, 0x78]) { return .utf16BE }
        return nil
    }

    /// HTML's "get an XML encoding".
    private static func xmlDeclaration(_ bytes: Data) -> WebEncoding? {
        guard bytes.starts(with: "<?xml".utf8), let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let declaration = bytes[..<end]
        guard let key = declaration.firstRange(of: Array("encoding".utf8)) else { return nil }
        let equals = declaration[key.upperBound...].drop { $0 <= 0x20 }
        guard equals.first == UInt8(ascii: "=") else { return nil }
        let value = equals.dropFirst().drop { $0 <= 0x20 }
        guard let quote = value.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
            let closing = value.dropFirst().firstIndex(of: quote)
        else { return nil }
        let label = value[(value.startIndex + 1)..<closing]
        guard label.allSatisfy({ $0 > 0x20 }) else { return nil }
        return WebEncoding(label: label).map { [.utf16BE, .utf16LE].contains($0) ? .utf8 : $0 }
    }

    /// Reads the attributes of a `meta` tag.
    private static func meta(_ reader: inout MarkupReader) -> WebEncoding? {
        var names: Set<String> = []
        var isPragma = false
        var needsPragma: Bool?
        var encoding: WebEncoding?
        while let (name, value) = reader.attribute() {
            guard names.insert(name).inserted else { continue }
            switch name {
            case "http-equiv":
                if value == "content-type" { isPragma = true }
            case "content":
                guard needsPragma == nil, let label = charset(inContent: value) else { continue }
                encoding = WebEncoding(label: label)
                if encoding != nil { needsPragma = true }
            case "charset":
                encoding = WebEncoding(label: value)
                needsPragma = false
            default:
                break
            }
        }
        guard let needsPragma, !needsPragma || isPragma else { return nil }
        return encoding?.asDeclared
    }
}

/// Reads the beginning of a page in the way of HTML's prescan, which is simpler than its parser.
private struct MarkupReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: Data) {
        self.bytes = Array(bytes)
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D
    }

    var isAtEnd: Bool { index >= bytes.count }

    func isAt(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            index + text.count <= bytes.count
                && zip(bytes[index...], text).allSatisfy { byte, wanted in
                    byte == wanted || ((0x41...0x5A).contains(byte) && byte | 0x20 == wanted)
                }
        }
    }

    mutating func skips(_ text: StaticString) -> Bool {
        guard isAt(text) else { return false }
        index += text.utf8CodeUnitCount
        return true
    }

    /// Skips the text and the byte after it, which must be one of these.
    mutating func skips(_ text: StaticString, before following: [UInt8]) -> Bool {
        let next = index + text.utf8CodeUnitCount
        guard isAt(text), next < bytes.count, following.contains(bytes[next]) else { return false }
        index = next + 1
        return true
    }

    mutating func skipByte() { index += 1 }

    mutating func skip(past byte: UInt8) {
        index = bytes[index...].firstIndex(of: byte).map { $0 + 1 } ?? bytes.count
    }

    /// Skips a comment up to its first `-->`, whose dashes may be those of `<!--`.
    mutating func skipComment() {
        index -= 2
        while !isAtEnd, !isAt("-->") { index += 1 }
        index = min(index + 3, bytes.count)
    }

    /// Skips `<a` or `</a` and the rest of the name.
    mutating func skipsStartOfTag() -> Bool {
        guard isAt("<") else { return false }
        let name = index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "/") ? index + 2 : index + 1
        guard name < bytes.count, (0x61...0x7A).contains(bytes[name] | 0x20) else { return false }
        index = name
        while !isAtEnd, !Self.isSpace(bytes[index]), bytes[index] != UInt8(ascii: ">") { index += 1 }
        return true
    }

    /// The next attribute of a tag in lower case ("get an attribute"); nil at the end of the tag.
    mutating func attribute() -> (name: String, value: String)? {
        while !isAtEnd, Self.isSpace(bytes[index]) || bytes[index] == UInt8(ascii: "/") { index += 1 }
        guard !isAtEnd, bytes[index] != UInt8(ascii: ">") else { return nil }
        let name = take { byte, isFirst in
            Self.isSpace(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">")
                || (byte == UInt8(ascii: "=") && !isFirst)
        }
        skipSpace()
        // An attribute that the end of the bytes cuts off does not count.
        guard !isAtEnd else { return nil }
        guard bytes[index] == UInt8(ascii: "=") else { return (name, "") }
        index += 1
        skipSpace()
        guard !isAtEnd else { return nil }
        let quote = bytes[index]
        let isQuoted = quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
        if isQuoted { index += 1 }
        let value = take { byte, _ in isQuoted ? byte == quote : Self.isSpace(byte) || byte == UInt8(ascii: ">") }
        guard !isAtEnd else { return nil }
        if isQuoted { index += 1 }
        return (name, value)
    }

    private mutating func skipSpace() {
        while !isAtEnd, Self.isSpace(bytes[index]) { index += 1 }
    }

    private mutating func take(until isEnd: (_ byte: UInt8, _ isFirst: Bool) -> Bool) -> String {
        let start = index
        while !isAtEnd, !isEnd(bytes[index], index == start) { index += 1 }
        return String(decoding: bytes[start..<index].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
