import Foundation
import HTTPTypes
import WaystationHTTP

/// An HTTP/1 message as a record contains it: its first line, its fields, and its body as transferred.
struct HTTPBlock {
    let firstLine: String
    let fields: HTTPFields
    /// The body as it was recorded, with its codings.
    let content: Data

    /// The limit is far above what any server sends, and far below what `HTTPFields` can hold.
    private static let maximumFieldCount = 1_000

    /// Reads a message.
    ///
    /// An interim response (RFC 9110 §15.2) before the final one is skipped, if a program recorded both in one block.
    ///
    /// - Throws: ``ImportRefusal`` when the block is not an HTTP message.
    init(_ block: Data) throws(ImportRefusal) {
        var message = try HTTPBlock(first: block)
        for _ in 0..<Self.maximumInterimCount {
            guard message.firstLine.hasPrefix("HTTP/"), let status = try? message.status(), 100...199 ~= status,
                status != 101, message.content.starts(with: "HTTP/".utf8)
            else { break }
            message = try HTTPBlock(first: message.content)
        }
        self = message
    }

    private static let maximumInterimCount = 10

    private init(first block: Data) throws(ImportRefusal) {
        var rest = block[...]
        var lines: [String] = []
        while true {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
                throw ImportRefusal(.damagedHead, "the HTTP head does not end")
            }
            var line = rest[..<end]
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            rest = rest[(end + 1)...]
            if line.isEmpty { break }
            guard lines.count <= Self.maximumFieldCount else {
                throw ImportRefusal(.damagedHead, "the HTTP head has more than \(Self.maximumFieldCount) lines")
            }
            lines.append(FieldText.text(of: line))
        }
        guard let first = lines.first else { throw ImportRefusal(.damagedHead, "its HTTP head is empty") }
        firstLine = first
        fields = Self.fields(lines.dropFirst())
        content = rest
    }

    private static func fields(_ lines: ArraySlice<String>) -> HTTPFields {
        var pairs: [(name: String, value: String)] = []
        for line in lines {
            if line.first == " " || line.first == "\t", let last = pairs.popLast() {
                // The line continues the field before it, by obsolete folding (RFC 9112 §5.2).
                pairs.append((last.name, last.value + " " + line.trimmingSpace()))
            } else if let colon = line.firstIndex(of: ":") {
                pairs.append((String(line[..<colon]), String(line[line.index(after: colon)...])))
            }
        }
        return HTTPFields(recorded: pairs)
    }

    /// The status of a response.
    func status() throws(ImportRefusal) -> Int {
        let words = firstLine.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), words[1].utf8.count == 3, let status = Int(words[1]),
            100...599 ~= status
        else { throw ImportRefusal(.damagedHead, "the response has no HTTP status line") }
        return status
    }

    /// The method of a request.
    var method: String { firstLine.split(separator: " ").first.map(String.init) ?? "" }

    /// The body of a response without transfer and content coding.
    ///
    /// A record holds one message, so all bytes after the head are its body. `Content-Length` is only a lower bound: it is
    /// often that of the coded body, where the program has recorded the decoded one.
    ///
    /// - Throws: ``ImportRefusal`` for a body that is damaged, cut off, or larger than `limit` without its codings.
    func body(limit: Int) throws(ImportRefusal) -> Data {
        let transfer = fields[values: .transferEncoding].flatMap(\.listMembers).map { $0.lowercased() }
        if let other = transfer.first(where: { $0 != "chunked" && $0 != "identity" }) {
            throw ImportRefusal(.transferCoding, "its transfer coding is \(other.shown(upTo: 40))")
        }
        guard !transfer.contains("chunked") else {
            return try decoded(ChunkedBody.decode(content) ?? content, limit)
        }
        let length = ContentLength(lines: fields[values: .contentLength])
        if case .invalid = length {
            throw ImportRefusal(.damagedHead, "the Content-Length field is not a number")
        }
        guard case .bytes(let count) = length, count > content.count else { return try decoded(content, limit) }
        let cutOff = ImportRefusal(.incomplete, "the body has only \(content.count) of \(count) bytes")
        // The length of a body that was decoded already is another one.
        guard ContentCodings(fields[values: .contentEncoding]).areRemoved, !content.isEmpty,
            let body = try? decoded(content, limit), body == content
        else { throw cutOff }
        return body
    }

    private func decoded(_ body: Data, _ limit: Int) throws(ImportRefusal) -> Data {
        try ContentCoding.decode(Data(body), fields[values: .contentEncoding], limit: limit)
    }
}

extension HTTPFields {
    /// Makes fields from a recording.
    ///
    /// A value with line breaks is several values, as browsers and other programs write repeated fields. Fields that are
    /// not valid HTTP, and the pseudo fields of HTTP/2, are left out, so that none can inject a line. A field has the
    /// spelling of its first line, because Foundation keeps one line for each spelling.
    init(recorded pairs: some Sequence<(name: String, value: String)>) {
        self.init()
        var names: [HTTPField.Name: HTTPField.Name] = [:]
        for pair in pairs.prefix(4_000) {
            guard let name = HTTPField.Name(pair.name) else { continue }
            let spelled = names[name, default: name]
            names[name] = spelled
            for line in pair.value.unicodeScalars.split(whereSeparator: { $0 == "\n" || $0 == "\r" }) {
                let value = String(Substring(line).trimmingSpace())
                guard !value.isEmpty, HTTPField.isValidValue(value) else { continue }
                append(HTTPField(name: spelled, value: value))
            }
        }
    }
}

/// Removes the chunked transfer coding from a recorded body (RFC 9112 §7.1).
enum ChunkedBody {
    /// The longest line with the size of a chunk.
    private static let longestSizeLine = 4 << 10

    /// Returns the body without chunks; trailers are dropped.
    ///
    /// Many programs record the body without its chunks, and keep the field. So a body that does not begin with the size of
    /// a chunk is not chunked, unless it ends as a chunked one does.
    ///
    /// - Returns: The body; nil if it is not chunked.
    /// - Throws: ``ImportRefusal`` for a body that is damaged or cut off.
    static func decode(_ data: Data) throws(ImportRefusal) -> Data? {
        var result = Data()
        var rest = data[...]
        var isFirst = true
        while true {
            guard let line = SizeLine(rest.prefix(longestSizeLine)) else {
                let endsAsChunked = data.suffix(7).elementsEqual("\r\n0\r\n\r\n".utf8)
                if isFirst, !endsAsChunked { return nil }
                guard !rest.isEmpty, rest.prefix(longestSizeLine).contains(UInt8(ascii: "\n")) else { throw cutOff }
                throw ImportRefusal(.damagedBody, "the body has a chunk whose size is not a number")
            }
            guard let size = line.size else {
                throw ImportRefusal(.damagedBody, "the body has a chunk whose size is not a number")
            }
            rest = rest.dropFirst(line.length)
            if size == 0 { return isFirst && rest.isEmpty && !line.hasCarriageReturn ? nil : result }
            // A text may begin with a number in a line of its own, but its line ends are rarely those of HTTP.
            let mayBeText = isFirst && !line.hasCarriageReturn
            guard rest.count >= size else {
                if mayBeText { return nil }
                throw cutOff
            }
            let chunk = rest.prefix(size)
            rest = rest.dropFirst(size)
            let end = line.hasCarriageReturn ? "\r\n" : "\n"
            guard rest.starts(with: end.utf8) else {
                if mayBeText { return nil }
                throw rest.count < end.utf8.count
                    ? cutOff : ImportRefusal(.damagedBody, "a chunk of the body is longer than its size")
            }
            result.append(chunk)
            rest = rest.dropFirst(end.utf8.count)
            isFirst = false
        }
    }

    /// A line with the size of a chunk in hexadecimal digits.
    private struct SizeLine {
        /// The size; nil if it is larger than any body.
        let size: Int?
        /// The length of the line with its end.
        let length: Int
        let hasCarriageReturn: Bool

        /// Reads the line at the beginning of bytes; nil if it does not begin with a size alone.
        init?(_ bytes: Data.SubSequence) {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            var line = bytes[..<end]
            length = line.count + 1
            hasCarriageReturn = line.last == UInt8(ascii: "\r")
            if hasCarriageReturn { line = line.dropLast() }
            // The extensions of a chunk follow its size after a semicolon; they are ignored. Some servers pad the size with
            // space.
            let space: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
            let digits = line.prefix { $0 != UInt8(ascii: ";") }.drop(while: space.contains)
            let size = digits.prefix { $0.hexadecimalDigit != nil }
            guard !size.isEmpty, digits.dropFirst(size.count).allSatisfy(space.contains) else { return nil }
            self.size = size.count <= 15 ? Int(String(decoding: size, as: UTF8.self), radix: 16) : nil
        }
    }

    private static var cutOff: ImportRefusal { ImportRefusal(.incomplete, "the chunked body is cut off") }
}
