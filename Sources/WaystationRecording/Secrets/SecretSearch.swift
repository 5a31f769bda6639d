import WaystationHTTP

/// Finds the secrets of a text by their names: in JSON, forms, XML, HTML, multipart bodies and plain text, also within one
/// another.
struct SecretSearch {
    let names: SecretNames
    /// Whether the text belongs to a request, in which each `code` counts as a secret: in responses it is often that of an
    /// error or a country.
    let isRequest: Bool
    /// The names that were looked up, since a list of objects repeats them.
    private var known: [String: Bool] = [:]
    private var depth = 0

    init(_ names: SecretNames, isRequest: Bool) {
        self.names = names
        self.isRequest = isRequest
    }

    /// The secrets of a body.
    ///
    /// - Parameters:
    ///   - text: The body.
    ///   - type: Its media type with its parameters; empty if it has no media type.
    /// - Returns: The secrets, in the order of the text.
    mutating func spans(in text: [UInt8], type: String) -> [SecretSpan] {
        guard !names.isEmpty, depth < Self.maximumDepth else { return [] }
        let essence = type.prefix { $0 != ";" && $0 != " " }.lowercased()
        if essence.hasPrefix("multipart/") { return multipart(text, type: type).inOrder }
        let start = Self.start(of: text)
        var spans: [SecretSpan] = []
        if essence.contains("json") || start.map({ "{[".utf8.contains(text[$0]) }) ?? false { spans += json(text) }
        let isMarkup = start.map { text[$0] == UInt8(ascii: "<") } ?? false
        switch essence {
        case _ where essence.contains("json"): break
        case "application/x-www-form-urlencoded": spans += form(text, 0..<text.count)
        case _ where essence.hasSuffix("html") || essence.hasSuffix("xml") || isMarkup:
            spans += markup(text, isPage: essence.hasSuffix("html")) + plain(text, isCode: true)
        case _ where essence.hasSuffix("javascript") || essence.hasSuffix("ecmascript") || essence == "text/css":
            spans += plain(text, isCode: true)
        case _ where essence.hasPrefix("text/") || Self.isText(text):
            if text.starts(with: "--".utf8) { spans += multipart(text, type: "") }
            spans += plain(text, isCode: false)
        default: break
        }
        return spans.inOrder
    }

    /// The secrets of a header field's value that is no secret as a whole, such as a URL.
    mutating func spans(inField text: [UInt8]) -> [SecretSpan] { plain(text, isCode: true).inOrder }

    /// The secrets of a form.
    mutating func form(_ text: [UInt8], _ range: Range<Int>) -> [SecretSpan] {
        var inner = self
        return names.spans(inForm: text, range) { inner.nested($0) }
    }

    /// The secrets of a value in which there may be a text of any kind.
    mutating func nested(_ text: [UInt8]) -> [SecretSpan] {
        guard text.count >= Self.shortestNested, text.contains(where: { "=:<".utf8.contains($0) }) else { return [] }
        return spans(inPart: text, type: "")
    }

    /// The secrets of a part of a text, which is a text of its own.
    mutating func spans(inPart text: [UInt8], type: String) -> [SecretSpan] {
        depth += 1
        defer { depth -= 1 }
        return spans(in: text, type: type)
    }

    /// Whether the values with a name are secrets.
    mutating func hides(_ name: [UInt8]) -> Bool {
        guard !name.isEmpty, name.count <= Self.longestName else { return false }
        let text = String(decoding: name, as: UTF8.self)
        if let isHidden = known[text] { return isHidden }
        let isHidden = names.contains(text)
        known[text] = isHidden
        return isHidden
    }

    /// Whether a value with a secret name is a secret.
    func isSecret(_ value: [UInt8], name: [UInt8]) -> Bool {
        guard !value.isEmpty else { return false }
        let text = String(decoding: name, as: UTF8.self)
        guard !isRequest, text.lowercased() == "code" else { return true }
        return SecretValue.looksRandom(value)
    }

    /// The index of the first byte that is not white space, a byte order mark or the mark of a JSON sequence (RFC 7464).
    private static func start(of text: [UInt8]) -> Int? {
        text.firstIndex { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }
    }

    /// Whether bytes of an unknown type are text.
    private static func isText(_ text: [UInt8]) -> Bool {
        let beginning = text.prefix(1 << 10)
        return !beginning.contains { $0 < 0x20 && !"\t\n\r\u{1E}\u{0C}\u{1B}".utf8.contains($0) }
    }

    /// The depth to which texts within one another are searched.
    private static let maximumDepth = 5
    private static let shortestNested = 6
    private static let longestName = 200
}

extension SecretSearch {
    /// The words that are in quotation marks, each as often as it occurs.
    static func quotedNames(_ text: [UInt8]) -> [String] {
        var names: [String] = []
        var start: Int?
        for (place, byte) in text.enumerated() where byte == UInt8(ascii: "\"") {
            if let first = start, place > first, place - first <= longestName {
                names.append(String(decoding: text[first..<place], as: UTF8.self))
            }
            start = place + 1
        }
        return names
    }
}

extension SecretSearch {
    /// The secrets of the parts of a body (RFC 2046 §5.1), such as a form with files (RFC 7578).
    ///
    /// - Parameters:
    ///   - text: The body.
    ///   - type: The media type with its boundary; the first line is the boundary if the type names none.
    /// - Returns: The secrets.
    mutating func multipart(_ text: [UInt8], type: String) -> [SecretSpan] {
        let firstLine = text.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let named = ParameterizedValue(type)["boundary"].map {
            Array("--".utf8) + $0.utf8.filter { $0 != UInt8(ascii: "\"") }
        }
        let boundary = named ?? Array(firstLine.prefix(200))
        guard boundary.count > 2, boundary.starts(with: "--".utf8) else { return [] }
        var spans: [SecretSpan] = []
        var start = text.firstRange(of: boundary, from: 0)
        while let begin = start {
            let next = text.firstRange(of: boundary, from: begin + boundary.count)
            spans += part(text, begin + boundary.count..<(next ?? text.count))
            start = next
        }
        return spans
    }

    private mutating func part(_ text: [UInt8], _ range: Range<Int>) -> [SecretSpan] {
        let ends = [Array("\r\n\r\n".utf8), Array("\n\n".utf8)].compactMap { end in
            text[range].firstRange(of: end, from: range.lowerBound).map { ($0, $0 + end.count) }
        }
        guard let head = ends.min(by: { $0.0 < $1.0 }) else { return [] }
        var end = range.upperBound
        if end > head.1, text[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > head.1, text[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        let body = head.1..<max(head.1, end)
        let fields = String(decoding: text[range.lowerBound..<head.0], as: UTF8.self).split(whereSeparator: \.isNewline)
        let value = { (name: String) in
            fields.first { $0.lowercased().hasPrefix(name + ":") }.map { String($0.dropFirst(name.count + 1)) }
        }
        let content = Array(text[body])
        let candidates = value("content-disposition").map(Self.names(ofPart:)) ?? []
        if let name = candidates.first(where: { hides($0) }) {
            guard !content.isEmpty else { return [] }
            return [Self.span(body, name, content, SecretNames.placeholder)]
        }
        let type = value("content-type")?.drop { $0 == " " } ?? ""
        return spans(inPart: content, type: String(type)).map { $0.moved(by: body.lowerBound) }
    }

    /// The names that a `Content-Disposition` may give to a part.
    ///
    /// A quotation mark that is not closed must not hide the name of a secret, so semicolons within quotation marks are
    /// taken for separators as well.
    private static func names(ofPart disposition: String) -> [[UInt8]] {
        let semicolon = UInt8(ascii: ";")
        let bytes = disposition.utf8
        return (bytes.splitOutsideQuotes(at: semicolon) + bytes.split(separator: semicolon)).compactMap { part in
            let parameter = FieldParameter(Substring(part))
            guard parameter.name == "name", let name = parameter.value else { return nil }
            return name.utf8.filter { $0 != UInt8(ascii: "\"") }
        }
    }
}

extension SecretSearch {
    /// The secrets of JSON: of one document, of several one after the other, and of one that is damaged.
    mutating func json(_ text: [UInt8]) -> [SecretSpan] {
        var spans: [SecretSpan] = []
        // The name of the secret that each open object or array belongs to; nil outside of secrets.
        var open: [[UInt8]?] = []
        // The name of the next value, if it is that of a secret.
        var name: [UInt8]?
        var place = 0
        while place < text.count {
            let secret = name ?? open.last.flatMap(\.self)
            switch text[place] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if open.count < Self.deepestJSON { open.append(secret) }
                name = nil
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                name = nil
                place += 1
            case UInt8(ascii: ","):
                name = nil
                place += 1
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let end = Self.endOfString(text, place)
                let part = Self.unescaped(text, place + 1..<end)
                let next = text[min(end + 1, text.count)...].firstIndex { $0 > 0x20 }
                if let next, text[next] == UInt8(ascii: ":") {
                    name = hides(part.bytes) ? part.bytes : nil
                    place = next + 1
                    continue
                }
                if let secret {
                    if isSecret(part.bytes, name: secret) {
                        spans.append(Self.span(place + 1..<end, secret, part.bytes, SecretNames.placeholder))
                    }
                } else {
                    spans += part.outer(nested(part.bytes), encode: Self.escaped)
                }
                name = nil
                place = end + 1
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let end = text[place...].firstIndex { !Self.isInNumber($0) } ?? text.count
                if let secret, isSecret(Array(text[place..<end]), name: secret) {
                    let value = Array(text[place..<end])
                    spans.append(Self.span(place..<end, secret, value, "\"\(SecretNames.placeholder)\""))
                }
                name = nil
                place = max(end, place + 1)
            case let byte where byte.isASCIILetter || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$"):
                // A literal, or a name without quotation marks, as JavaScript writes it.
                let end = text[place...].firstIndex { !$0.isInWord } ?? text.count
                let next = text[end...].firstIndex { !$0.isSpace } ?? text.count
                let isName = next < text.count && text[next] == UInt8(ascii: ":")
                name = isName && hides(Array(text[place..<end])) ? Array(text[place..<end]) : nil
                place = end
            default: place += 1
            }
        }
        return spans
    }

    static func span(_ range: Range<Int>, _ name: [UInt8], _ value: [UInt8], _ replacement: String) -> SecretSpan {
        SecretSpan(range, String(decoding: name, as: UTF8.self), value, replacement: Array(replacement.utf8))
    }

    /// The index of the quotation mark that ends a string, of a line's end, or of the end of the text.
    private static func endOfString(_ text: [UInt8], _ start: Int) -> Int {
        var place = start + 1
        while place < text.count, text[place] != text[start], text[place] != UInt8(ascii: "\n") {
            place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(place, text.count)
    }

    /// The text of a string without its escapes (RFC 8259 §7).
    static func unescaped(_ text: [UInt8], _ range: Range<Int>) -> DecodedPart {
        guard text[range].contains(UInt8(ascii: "\\")) else { return DecodedPart(text, range) }
        var part = DecodedPart(for: range)
        var place = range.lowerBound
        while place < range.upperBound {
            guard text[place] == UInt8(ascii: "\\"), place + 1 < range.upperBound else {
                part.append(text[place], at: place)
                place += 1
                continue
            }
            switch text[place + 1] {
            case UInt8(ascii: "b"): part.append(8, at: place)
            case UInt8(ascii: "f"): part.append(12, at: place)
            case UInt8(ascii: "n"): part.append(10, at: place)
            case UInt8(ascii: "r"): part.append(13, at: place)
            case UInt8(ascii: "t"): part.append(9, at: place)
            case UInt8(ascii: "u"):
                if let (scalar, length) = Self.scalar(text[place..<range.upperBound]) {
                    for byte in String(Character(scalar)).utf8 { part.append(byte, at: place) }
                    place += length
                    continue
                }
                part.append(UInt8(ascii: "u"), at: place)
            case let byte: part.append(byte, at: place)
            }
            place += 2
        }
        return part
    }

    /// The character of an escape such as `\u00e9`, or of two for a pair of surrogates, and the length of the escape.
    static func scalar(_ text: ArraySlice<UInt8>) -> (Unicode.Scalar, length: Int)? {
        guard let first = unit(text) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        guard let second = unit(text.dropFirst(6)), (0xD800..<0xDC00).contains(first),
            (0xDC00..<0xE000).contains(second)
        else { return nil }
        return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + UInt32(second) - 0xDC00).map { ($0, 12) }
    }

    private static func unit(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard text.count >= 6, text.starts(with: "\\u".utf8) else { return nil }
        var unit: UInt16 = 0
        for byte in text.dropFirst(2).prefix(4) {
            guard let digit = byte.hexadecimalDigit else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// Bytes as they are written within a string.
    private static func escaped(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { "\"\\".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    }

    private static func isInNumber(_ byte: UInt8) -> Bool { byte.isASCIIDigit || "+-.eE".utf8.contains(byte) }

    /// Deeper objects belong to the secret of the last one that is counted.
    private static var deepestJSON: Int { 10_000 }
}

extension UInt8 {
    /// Whether the byte may be a part of a name.
    var isInWord: Bool { Self.inWord[Int(self)] }

    private static let inWord = (0...255).map { (byte: UInt8) in
        byte.isASCIIAlphanumeric || "_-$".utf8.contains(byte) || byte >= 0x80
    }
}
