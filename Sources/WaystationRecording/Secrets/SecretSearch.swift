import WaystationFields

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
    ///   - type: Its media type with its parameters; empty if there is none.
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
