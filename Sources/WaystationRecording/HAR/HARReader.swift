public import Foundation
import WaystationHTTP
public import WaystationStorage

/// Reads the entries of a HAR file one after the other; the file may be compressed by gzip or Zstandard.
///
/// ```swift
/// let reader = try HARReader(contentsOf: file)
/// while let item = try reader.next() {
///     if case .entry(let entry) = item.content { print(item.place, entry.request.url) }
/// }
/// ```
///
/// Memory holds one entry of up to ``maximumEntrySize``, whatever the size of the file: a decoder of JSON would hold the
/// whole file. Each entry stands for itself: one that is not valid JSON, or that has no request with a method and a URL, is
/// an item of its own, with its place and the reason. An error is thrown only where the end of an entry cannot be
/// found, for example because the file is cut off. Only one thread at a time may use a reader.
public final class HARReader {
    /// An element of `log.entries`.
    public struct Item: Sendable {
        /// An exchange, or the reason why the element cannot be read.
        public enum Content: Sendable {
            /// An exchange.
            case entry(HARArchive.Entry)
            /// An element that cannot be read: its URL, empty if it has none, and the reason.
            case unusable(url: String, reason: String)
            /// An element with more bytes than ``HARReader/maximumEntrySize``.
            case tooLarge(bytes: Int)
        }

        /// The place of the element in the file.
        public let place: ImportReport.Place
        /// The exchange of the element, or the reason why it cannot be read.
        public let content: Content
    }

    /// The most bytes of one entry; a larger one is skipped.
    public let maximumEntrySize: ByteCount
    /// The program that made the log; nil before it was read, and if the log names none.
    public private(set) var creator: HARArchive.Creator?
    /// The comment of the log; nil before it was read, and if the log has none.
    public private(set) var comment: String?
    /// The deviations from the format that were read over so far.
    public private(set) var warnings: [ImportReport.Warning] = []

    private enum Position {
        case start
        /// In the array of entries; the next element has this number.
        case entries(next: Int)
        case end
    }

    private let input: RecordInput
    private let tokens: JSONTokens
    private var position = Position.start
    private let decoder = JSONDecoder()
    /// The bytes of the present entry; the memory is used for one entry after the other.
    private var bytes: [UInt8] = []
    /// The most bytes of memory that are kept for the next entry.
    private static let keptCapacity = 512 << 10

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - maximumEntrySize: The most bytes of one entry; 64 MiB by default.
    /// - Throws: ``RecordingError`` when the file cannot be opened.
    public convenience init(
        contentsOf file: URL,
        maximumEntrySize: ByteCount = .mebibytes(64)
    ) throws(RecordingError) {
        let source: FileSource
        do { source = try FileSource(file) } catch {
            throw RecordingError(.unreadable, "\(file.path) cannot be opened", cause: error)
        }
        try self.init(source, maximumEntrySize: maximumEntrySize)
    }

    /// Begins to read from a source.
    ///
    /// - Parameters:
    ///   - source: The bytes.
    ///   - maximumEntrySize: The most bytes of one entry; 64 MiB by default.
    /// - Throws: ``RecordingError`` when the source cannot be read.
    public init(_ source: any ByteSource, maximumEntrySize: ByteCount = .mebibytes(64)) throws(RecordingError) {
        self.maximumEntrySize = maximumEntrySize
        input = try RecordInput(source)
        tokens = JSONTokens(input)
    }

    /// Begins to read at the place of an entry in a file that is not compressed.
    init(_ source: any ByteSource, entryAt place: Int, maximumEntrySize: ByteCount) throws(RecordingError) {
        self.maximumEntrySize = maximumEntrySize
        input = try RecordInput(source, from: place)
        tokens = JSONTokens(input)
        position = .entries(next: 1)
    }

    /// Whether the file is compressed.
    var isCompressed: Bool { input.isCompressed }

    /// How many bytes were read, counted after decompression.
    var offset: Int { input.offset }

    /// The next element of the log, or nil at the end.
    ///
    /// - Throws: ``RecordingError`` with the code `damagedJSON` or `invalidHAR`; after it, no more elements can be read.
    public func next() throws(RecordingError) -> Item? {
        defer {
            for detail in input.takeWarnings() where warnings.count < 1_000 {
                warnings.append(ImportReport.Warning(offset: nil, detail: detail))
            }
        }
        while true {
            switch position {
            case .start:
                try begin()
            case .entries(let number):
                if let item = try element(number) {
                    position = .entries(next: number + 1)
                    return item
                }
                position = .end
                try finish()
            case .end: return nil
            }
        }
    }

    /// Reads up to the first entry.
    private func begin() throws(RecordingError) {
        if try input.peek(3) == Data([0xEF, 0xBB, 0xBF]) { _ = try input.skip(3) }
        try tokens.expect("{", "the file does not begin with an object")
        guard try member(named: "log") else { throw Self.invalid("log is missing") }
        guard try tokens.next() == UInt8(ascii: "{") else { throw Self.invalid("log is of another type") }
        _ = try input.skip(1)
        guard try member(named: "entries") else { throw Self.invalid("log.entries is missing") }
        guard try tokens.next() == UInt8(ascii: "[") else { throw Self.invalid("log.entries is of another type") }
        _ = try input.skip(1)
        position = .entries(next: 1)
    }

    /// Reads the members of an object up to the value of one of them; those of the log are noted.
    ///
    /// - Returns: False at the end of the object, after its brace.
    private func member(named name: String, isFirst: Bool = true) throws(RecordingError) -> Bool {
        var isFirst = isFirst
        while true {
            if try tokens.skip("}") { return false }
            if !isFirst { try tokens.expect(",", "a comma is missing between two members") }
            isFirst = false
            let key = try text(of: tokens.value(limit: 64 << 10))
            guard let key else { throw tokens.damage("the name of a member is not a text") }
            try tokens.expect(":", "a colon is missing behind the name of a member")
            if key == name { return true }
            try note(key, inLog: name != "log")
        }
    }

    /// Reads a member of the log that is not the array of entries.
    private func note(_ key: String, inLog: Bool) throws(RecordingError) {
        guard inLog, ["version", "creator", "comment"].contains(key) else { return try tokens.skipValue() }
        guard let value = try tokens.value(limit: 64 << 10) else { return }
        switch key {
        case "creator": creator = try? decoder.decode(HARArchive.Creator.self, from: value)
        case "comment": comment = try text(of: value)
        default:
            let version = try text(of: value) ?? "1.1"
            guard ["", "1.1", "1.2", "1.3"].contains(version) else {
                throw Self.invalid("log.version: the version is \(version), but only 1.1 to 1.3 can be read")
            }
        }
    }

    private func text(of value: Data?) throws(RecordingError) -> String? {
        value.flatMap { try? decoder.decode(String.self, from: $0) }
    }

    /// Reads an element of the array; nil at its end.
    private func element(_ number: Int) throws(RecordingError) -> Item? {
        if try tokens.skip("]") { return nil }
        if number > 1 { try tokens.expect(",", "a comma is missing between two entries") }
        _ = try tokens.next()
        let place = ImportReport.Place(number: number, offset: input.offset)
        guard try tokens.value(into: &bytes, limit: maximumEntrySize.bytes) else {
            return Item(place: place, content: .tooLarge(bytes: input.offset - (place.offset ?? 0)))
        }
        // The memory of a large entry is not kept while its body is stored.
        defer { if bytes.capacity > Self.keptCapacity { bytes = [] } }
        return Item(place: place, content: bytes.withUnsafeMutableBytes { content($0, number) })
    }

    /// Decodes an element, whose bytes are only lent.
    private func content(_ bytes: UnsafeMutableRawBufferPointer, _ number: Int) -> Item.Content {
        guard let start = bytes.baseAddress else { return .unusable(url: "", reason: "the entry is empty") }
        let data = Data(bytesNoCopy: start, count: bytes.count, deallocator: .none)
        do { return .entry(try decoder.decode(HARArchive.Entry.self, from: data)) } catch {
            // Foundation also reads JSON5, but its reader stops the process at some bytes that are not UTF-8.
            if case DecodingError.dataCorrupted = error, WordNumbers.remove(from: bytes),
                let entry = try? decoder.decode(HARArchive.Entry.self, from: data)
            {
                return .entry(entry)
            }
            let url = (try? decoder.decode(AddressedEntry.self, from: data))?.request.url ?? ""
            return .unusable(url: url, reason: Self.explain(error, number))
        }
    }

    /// Reads what follows the entries.
    private func finish() throws(RecordingError) {
        while try member(named: "entries", isFirst: false) {
            // A member that occurs twice: the first one counts.
            try tokens.skipValue()
        }
        while try member(named: "log", isFirst: false) { try tokens.skipValue() }
        guard try tokens.nextOrEnd() != nil else { return }
        warnings.append(ImportReport.Warning(offset: input.offset, detail: "other text follows the log; it is skipped"))
    }

    private static func invalid(_ reason: String) -> RecordingError {
        RecordingError(.invalidHAR, "the file is not a valid HAR file: \(reason)")
    }

    /// The URL of an entry that cannot be read otherwise.
    private struct AddressedEntry: Decodable {
        struct Request: Decodable { let url: String }
        let request: Request
    }

    /// The reason why an element cannot be decoded, with the path of the member.
    private static func explain(_ error: any Error, _ number: Int) -> String {
        func path(_ keys: [any CodingKey]) -> String {
            keys.reduce("log.entries[\(number - 1)]") { path, key in
                key.intValue.map { "\(path)[\($0)]" } ?? "\(path).\(key.stringValue)"
            }
        }
        return switch error {
        case DecodingError.keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            "\(path(context.codingPath)) is of another type"
        case DecodingError.dataCorrupted(let context):
            "\(path(context.codingPath)) cannot be read: "
                + ((context.underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
                    ?? context.debugDescription)
        default: "\(path([])) cannot be read: \(error)"
        }
    }
}

/// Finds the values of JSON (RFC 8259) in bytes that come in pieces, without decoding them.
///
/// The end of a value is found by its brackets and quotation marks alone. Its inside is checked when it is decoded, so an
/// entry that is not valid JSON does not hide the entries after it.
private struct JSONTokens {
    private let input: RecordInput

    init(_ input: RecordInput) { self.input = input }

    /// The next byte that is not white space, without consuming it; nil at the end of the file.
    func nextOrEnd() throws(RecordingError) -> UInt8? {
        while let byte = try input.peekByte() {
            guard Self.isSpace(byte) else { return byte }
            _ = try input.skip(1)
        }
        return nil
    }

    /// The next byte that is not white space, without consuming it.
    func next() throws(RecordingError) -> UInt8 {
        guard let byte = try nextOrEnd() else { throw damage("the file ends too early") }
        return byte
    }

    /// Skips a character if it is the next one.
    func skip(_ character: Unicode.Scalar) throws(RecordingError) -> Bool {
        guard try next() == UInt8(ascii: character) else { return false }
        _ = try input.skip(1)
        return true
    }

    func expect(_ character: Unicode.Scalar, _ problem: String) throws(RecordingError) {
        guard try skip(character) else { throw damage(problem) }
    }

    /// Reads a value.
    ///
    /// - Returns: Its bytes; nil if there are more than `limit`. The value is skipped then.
    func value(limit: Int) throws(RecordingError) -> Data? {
        var bytes: [UInt8] = []
        return try value(into: &bytes, limit: limit) ? Data(bytes) : nil
    }

    /// Reads a value into memory that may have had another one.
    ///
    /// - Returns: False if the value has more bytes than `limit`. It is skipped then.
    func value(into bytes: inout [UInt8], limit: Int) throws(RecordingError) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        var isTooLarge = false
        try scan { piece in
            isTooLarge = isTooLarge || bytes.count + piece.count > limit
            if !isTooLarge { bytes.append(contentsOf: piece) }
        }
        return !isTooLarge
    }

    func skipValue() throws(RecordingError) { try scan { _ in } }

    /// Passes the bytes of the next value on, in pieces.
    private func scan(_ body: (Data) -> Void) throws(RecordingError) {
        let first = try next()
        var scan = ValueScan(first)
        guard scan.isValue else { throw damage("a value is missing") }
        while !scan.isAtEnd {
            let piece = try input.consume { bytes in scan.length(in: bytes) }
            guard let piece else {
                guard scan.isScalar else { throw damage("the file ends within a value") }
                return
            }
            body(piece)
        }
    }

    func damage(_ problem: String) -> RecordingError {
        RecordingError(
            .damagedJSON,
            "the file is not valid JSON: \(problem)",
            at: RecordingError.Position(offset: input.offset, line: nil)
        )
    }

    fileprivate static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }
}

/// The words that JavaScript and Python have for numbers, and that JSON does not have (RFC 8259 §6).
private enum WordNumbers {
    private static let words = ["-Infinity", "Infinity", "NaN"].map { Array($0.utf8) }

    /// Replaces the words outside of texts by empty texts, which read as absent where a number belongs.
    ///
    /// - Returns: Whether there was such a word.
    static func remove(from bytes: UnsafeMutableRawBufferPointer) -> Bool {
        var hasWords = false
        var isInText = false
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\\") where isInText: index += 1
            case UInt8(ascii: "\""): isInText.toggle()
            case UInt8(ascii: "-"), UInt8(ascii: "I"), UInt8(ascii: "N"):
                guard !isInText, let word = words.first(where: { bytes[index...].starts(with: $0) }) else { break }
                for place in index..<index + word.count {
                    bytes[place] = place < index + 2 ? UInt8(ascii: "\"") : UInt8(ascii: " ")
                }
                index += word.count - 1
                hasWords = true
            default: break
            }
            index += 1
        }
        return hasWords
    }
}

/// How far a value of JSON was scanned.
private struct ValueScan {
    private enum State {
        /// Outside of a text.
        case plain
        case text
        /// Within a text, after a backslash.
        case escaped
    }

    /// Whether the value is a number or a word, which has no end of its own.
    let isScalar: Bool
    /// Whether a value begins with the byte.
    let isValue: Bool
    private(set) var isAtEnd = false
    private var depth = 0
    private var state = State.plain

    init(_ first: UInt8) {
        isScalar = !"{[\"".utf8.contains(first)
        isValue = !",:]}".utf8.contains(first)
    }

    /// The number of bytes that belong to the value.
    mutating func length(in bytes: UnsafeRawBufferPointer) -> Int {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            switch state {
            case .escaped: state = .text
            case .text:
                // Texts are most of a HAR, so their plain characters have a loop of their own.
                var here = byte
                while here != UInt8(ascii: "\""), here != UInt8(ascii: "\\") {
                    index += 1
                    guard index < bytes.count else { return index }
                    here = bytes[index]
                }
                state = here == UInt8(ascii: "\\") ? .escaped : .plain
                if state == .plain, depth == 0 { return end(index + 1) }
            case .plain:
                switch byte {
                case UInt8(ascii: "\""):
                    if isScalar { return end(index) }
                    state = .text
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if isScalar { return end(index) }
                    depth -= 1
                    if depth <= 0 { return end(index + 1) }
                case UInt8(ascii: ","), UInt8(ascii: ":"): if isScalar { return end(index) }
                default: if isScalar, JSONTokens.isSpace(byte) { return end(index) }
                }
            }
            index += 1
        }
        return index
    }

    private mutating func end(_ length: Int) -> Int {
        isAtEnd = true
        return length
    }
}
