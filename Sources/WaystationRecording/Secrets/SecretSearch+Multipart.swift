import WaystationFields

extension SecretSearch {
    /// The secrets of the parts of a body (RFC 2046 §5.1), such as a form with files (RFC 7578).
    ///
    /// - Parameters:
    ///   - text: The body.
    ///   - type: The media type with its boundary; the first line is the boundary if the type names none.
    /// - Returns: The secrets.
    mutating func multipart(_ text: [UInt8], type: String) -> [SecretSpan] {
        let firstLine = text.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let named = Self.parameter("boundary", of: type).map { Array("--\($0)".utf8) }
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
        if let name = value("content-disposition").flatMap({ Self.parameter("name", of: $0) }), hides(Array(name.utf8))
        {
            guard !content.isEmpty else { return [] }
            return [Self.span(body, Array(name.utf8), content, SecretNames.placeholder)]
        }
        let type = value("content-type")?.drop { $0 == " " } ?? ""
        return spans(inPart: content, type: String(type)).map { $0.moved(by: body.lowerBound) }
    }

    /// A parameter of a field's value, without quotation marks.
    private static func parameter(_ name: String, of field: String) -> String? {
        for item in field.split(separator: ";").dropFirst() {
            let pair = item.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            let key = pair[0].filter { $0 != " " && $0 != "\t" }.lowercased()
            if key == name { return String(pair[1].drop { $0 == " " }.filter { $0 != "\"" }) }
        }
        return nil
    }
}
