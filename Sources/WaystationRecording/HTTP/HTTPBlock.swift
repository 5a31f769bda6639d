import Foundation
import HTTPTypes
import WaystationHTTP

/// An HTTP/1 message as a record contains it: its first line, its fields, and its body as transferred.
struct HTTPBlock {
    let firstLine: String
    let fields: HTTPFields
    private let content: Data

    /// The limit is far above what any server sends, and far below what `HTTPFields` can hold.
    private static let maximumFieldCount = 1_000

    /// Reads a message.
    ///
    /// - Throws: ``ImportRefusal`` when the block is not an HTTP message.
    init(_ block: Data) throws(ImportRefusal) {
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
    func body(limit: Int) throws(ImportRefusal) -> Data {
        var body = Data(content)
        if let transfer = fields[.transferEncoding], !transfer.equalsIgnoringCase("identity") {
            guard transfer.equalsIgnoringCase("chunked") else {
                throw ImportRefusal(.transferCoding, "its transfer coding is \(transfer.shown(upTo: 40))")
            }
            body = try ChunkedBody.decode(body)
        } else if let text = fields[.contentLength] {
            guard case .bytes(let length) = ContentLength(text) else {
                throw ImportRefusal(.damagedHead, "the Content-Length field is not a number")
            }
            guard length <= body.count else {
                throw ImportRefusal(.incomplete, "the body has only \(body.count) of \(length) bytes")
            }
            body = body.prefix(length)
        }
        guard let coding = fields[.contentEncoding] else { return body }
        return try ContentCoding.decode(body, coding, limit: limit)
    }
}

extension HTTPFields {
    /// Makes fields from a recording.
    ///
    /// Fields that are not valid HTTP, and the pseudo fields of HTTP/2, are left out, so that none can inject a line.
    init(recorded pairs: [(name: String, value: String)]) {
        self.init()
        for pair in pairs.prefix(4_000) {
            let value = pair.value.trimmingSpace()
            guard let name = HTTPField.Name(pair.name), HTTPField.isValidValue(value) else { continue }
            append(HTTPField(name: name, value: value))
        }
    }
}

/// Removes the chunked transfer coding from a body (RFC 9112 §7.1).
enum ChunkedBody {
    /// Returns the body without chunks; trailers are dropped.
    static func decode(_ data: Data) throws(ImportRefusal) -> Data {
        var result = Data()
        var rest = data[...]
        while true {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { throw cutOff }
            let line = rest[..<end]
            // The extensions of a chunk follow its size after a semicolon; they are ignored.
            let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: " ") }
            guard !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ $0.hexadecimalDigit != nil }),
                let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw ImportRefusal(.damagedBody, "the body has a chunk whose size is not a number") }
            rest = rest[(end + 1)...]
            if size == 0 { return result }
            guard rest.count >= size else { throw cutOff }
            result.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            if rest.first == UInt8(ascii: "\r") { rest = rest.dropFirst() }
            guard rest.first == UInt8(ascii: "\n") else {
                throw rest.isEmpty ? cutOff : ImportRefusal(.damagedBody, "a chunk of the body is longer than its size")
            }
            rest = rest.dropFirst()
        }
    }

    private static var cutOff: ImportRefusal { ImportRefusal(.incomplete, "the chunked body is cut off") }
}
