public import Foundation
import WaystationHTTP
public import WaystationStorage

/// Reads the records of a WARC file (ISO 28500, versions 0.17 to 1.1) one after the other; the file may be compressed by
/// gzip or Zstandard.
///
/// ```swift
/// let reader = try WARCReader(contentsOf: file)
/// while let record = try reader.next() { print(record.type, record.targetURI ?? "-", record.blockLength) }
/// ```
///
/// A record has this form, with line ends of CR LF, or of LF alone as some programs write:
/// ```
/// WARC/1.0
/// WARC-Type: response
/// WARC-Target-URI: https://shop.example/
/// Content-Length: 42
///
/// …42 bytes…
///
/// ```
/// Memory holds at most one block of up to ``Limits/maximumBlockSize``; larger blocks are skipped. For any input, the
/// result is either records or a ``RecordingError`` that names the place. Deviations from the format that leave no doubt
/// about the records, such as a missing line end or padding, are read over; ``warnings`` names them. Only one thread at a
/// time may use a reader.
public final class WARCReader {
    /// How much of one record is read into memory.
    public struct Limits: Sendable {
        /// The largest block that is read; 64 MiB by default.
        ///
        /// For a larger one, only the fields are read.
        public var maximumBlockSize = ByteCount.mebibytes(64)
        /// The largest header; 64 KiB by default.
        ///
        /// A larger one is an error.
        public var maximumHeaderSize = ByteCount.kibibytes(64)

        /// Makes limits with the default values.
        public init() {}
    }

    /// The deviations from the format that were read over so far; the first 1,000 of them.
    public private(set) var warnings: [ImportReport.Warning] = []

    private let input: RecordInput
    private let limits: Limits

    /// Opens a file.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be opened.
    public convenience init(contentsOf file: URL, limits: Limits = Limits()) throws(RecordingError) {
        let source: FileSource
        do { source = try FileSource(file) } catch {
            throw RecordingError(.unreadable, "\(file.path) cannot be opened", cause: error)
        }
        try self.init(source, limits: limits)
    }

    /// Begins to read from a source.
    public convenience init(_ source: any ByteSource, limits: Limits = Limits()) throws(RecordingError) {
        self.init(reading: try RecordInput(source), limits: limits)
    }

    /// Begins to read at the place of a record; if the file is compressed, at the place of the member that holds it.
    convenience init(_ source: any ByteSource, at place: Int, limits: Limits) throws(RecordingError) {
        self.init(reading: try RecordInput(source, from: place), limits: limits)
    }

    init(reading input: RecordInput, limits: Limits) {
        self.input = input
        self.limits = limits
    }

    /// The place of the next record, at which another reader may begin; nil at the end of the file.
    ///
    /// - Throws: ``RecordingError`` with the code `notSeekable` if a member of a compressed file does not begin there.
    func nextPlace() throws(RecordingError) -> Int? {
        try skipPadding()
        guard try input.peekByte() != nil else { return nil }
        guard input.isCompressed else { return input.offset }
        guard let place = input.memberStart else {
            throw RecordingError(
                .notSeekable,
                "the file is compressed as a whole, so its records cannot be read by their places: decompress it, or compress each record by itself as `warcio recompress` does",
                at: RecordingError.Position(offset: input.offset, line: nil)
            )
        }
        return place
    }

    /// The next record, or nil at the end.
    ///
    /// - Throws: ``RecordingError``; after it, no more records can be read.
    public func next() throws(RecordingError) -> WARCRecord? {
        defer { for detail in input.takeWarnings() { warn(detail, at: nil) } }
        try skipPadding()
        guard try input.peekByte() != nil else { return nil }
        var header = HeaderLines(input, limit: limits.maximumHeaderSize.bytes)
        let version = try version(header.next(), header)
        let fields = try fields(&header)
        let length = try length(fields, header)
        let block = try block(length, header)
        try end(header)
        return WARCRecord(
            offset: header.start,
            version: version,
            fields: fields,
            blockLength: length,
            block: block
        )
    }

    /// Skips empty lines, which some programs write in excess, and zeros, which fill blocks of tapes and object stores.
    private func skipPadding() throws(RecordingError) {
        let start = input.offset
        var hasZeros = false
        while let byte = try input.peekByte() {
            guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") || byte == 0 else { break }
            hasZeros = hasZeros || byte == 0
            _ = try input.skip(1)
        }
        if hasZeros { warn("zeros are between the records; they are skipped", at: start) }
    }

    private func warn(_ detail: String, at offset: Int?) {
        guard warnings.count < 1_000 else { return }
        warnings.append(ImportReport.Warning(offset: offset, detail: detail))
    }

    private func version(_ line: String, _ header: HeaderLines) throws(RecordingError) -> String {
        for version in ["1.0", "1.1", "0.18", "0.17"] where line == "WARC/\(version)" { return version }
        throw RecordingError(
            .invalidVersion,
            "a record must begin with WARC/ and a version from 0.17 to 1.1, but begins with \(line.quoted(upTo: 40))",
            at: header.position
        )
    }

    private func fields(_ header: inout HeaderLines) throws(RecordingError) -> [WARCRecord.Field] {
        var fields: [WARCRecord.Field] = []
        while true {
            let line = try header.next()
            if line.isEmpty { return fields }
            if line.first == " " || line.first == "\t" {
                // A line that begins with space continues the value before it.
                guard let last = fields.popLast() else {
                    throw RecordingError(.invalidHeader, "a header begins with a folded line", at: header.position)
                }
                let more = line.trimmingSpace()
                fields.append(WARCRecord.Field(name: last.name, value: last.value + " " + more))
                continue
            }
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
                line[..<colon].utf8.allSatisfy({ 0x21...0x7E ~= $0 })
            else {
                throw RecordingError(.invalidHeader, "a line of a header is not `name: value`", at: header.position)
            }
            let value = line[line.index(after: colon)...].trimmingSpace()
            fields.append(WARCRecord.Field(name: String(line[..<colon]), value: value))
        }
    }

    private func length(_ fields: [WARCRecord.Field], _ header: HeaderLines) throws(RecordingError) -> Int {
        let values = fields.filter { $0.name.equalsIgnoringCase("Content-Length") }.map(\.value)
        guard let value = values.first, values.allSatisfy({ $0 == value }), value.utf8.isDecimal,
            let length = Int(value)
        else {
            throw RecordingError(
                .invalidLength,
                values.isEmpty ? "a record has no Content-Length" : "the Content-Length of a record is not a number",
                at: header.position
            )
        }
        guard fields.contains(where: { $0.name.equalsIgnoringCase("WARC-Type") }) else {
            throw RecordingError(.invalidHeader, "a record has no WARC-Type", at: header.position)
        }
        return length
    }

    private func block(_ length: Int, _ header: HeaderLines) throws(RecordingError) -> Data? {
        var block: Data?
        let count: Int
        if length <= limits.maximumBlockSize.bytes {
            let bytes = try input.read(length)
            block = bytes
            count = bytes.count
        } else {
            count = try input.skip(length)
        }
        guard count == length else {
            throw RecordingError(
                .truncated,
                "the file ends after \(count) of the \(length) bytes of a record",
                at: RecordingError.Position(offset: header.start, line: nil)
            )
        }
        return block
    }

    /// Reads the two line ends after a record.
    ///
    /// At the end of the file fewer are accepted, and with a warning also before a record or padding.
    private func end(_ header: HeaderLines) throws(RecordingError) {
        var count = 0
        while count < 2, let byte = try input.peekByte(), byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") {
            let pair = try input.peek(2)
            let isPair = pair.elementsEqual("\r\n".utf8)
            _ = try input.skip(isPair ? 2 : 1)
            count += 1
        }
        guard count < 2, let next = try input.peekByte() else { return }
        let beginning = try input.peek(5)
        guard next == 0 || beginning.elementsEqual("WARC/".utf8) else {
            throw RecordingError(
                .invalidRecordEnd,
                "a record is not followed by two line ends: its Content-Length is wrong",
                at: RecordingError.Position(offset: header.start, line: nil)
            )
        }
        warn(
            count == 0 ? "no line end follows the record" : "one line end follows the record, not two",
            at: header.start
        )
    }
}

/// The lines of one record's header, with a line counter.
private struct HeaderLines {
    let start: Int
    private let input: RecordInput
    private let limit: Int
    private var line = 0

    init(_ input: RecordInput, limit: Int) {
        start = input.offset
        self.input = input
        self.limit = limit
    }

    var position: RecordingError.Position { RecordingError.Position(offset: start, line: max(1, line)) }

    mutating func next() throws(RecordingError) -> String {
        line += 1
        let room = limit - (input.offset - start)
        guard room >= 0, let bytes = try input.readLine(limit: room) else {
            let isAtEnd = try input.peek(room + 1).count <= max(0, room)
            throw isAtEnd
                ? RecordingError(.truncated, "the file ends within the header of a record", at: position)
                : RecordingError(.tooLarge, "the header of a record has more than \(limit) bytes", at: position)
        }
        guard !bytes.contains(0) else {
            throw RecordingError(.invalidHeader, "a line of a header has a NUL", at: position)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension WARCRecord {
    /// Whether the block matches `WARC-Block-Digest`; true when there is no digest that can be checked.
    var isIntact: Bool {
        guard let block, let digest = self["WARC-Block-Digest"] else { return true }
        return WARCDigest(digest).matches(block) ?? true
    }
}

/// One record of a WARC file (ISO 28500).
public struct WARCRecord: Sendable {
    /// A named field of a record's header.
    public struct Field: Hashable, Sendable {
        /// The name; names are compared without regard to case.
        public let name: String
        /// The value, without surrounding space.
        public let value: String
    }

    /// The position of the record's first byte, counted after decompression.
    public let offset: Int
    /// The version of the format: `1.1`, `1.0`, `0.18` or `0.17`.
    public let version: String
    /// The fields of the record's header.
    public let fields: [Field]
    /// The length of the block in bytes.
    public let blockLength: Int
    /// The block; nil when it is larger than ``WARCReader/Limits/maximumBlockSize``.
    public let block: Data?

    /// The value of a field; the first one when there are several.
    public subscript(name: String) -> String? {
        fields.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    /// All values of a field.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
    }

    /// The kind of record in lower case, such as `response`, `request` or `resource`.
    public var type: String { self["WARC-Type"]?.lowercased() ?? "" }

    /// The record's globally unique ID, without angle brackets.
    public var id: String? { self["WARC-Record-ID"].map(Self.unbracketed) }

    /// The URI that the record is about, without the angle brackets that some programs put around it.
    public var targetURI: String? { self["WARC-Target-URI"].map(Self.unbracketed) }

    /// When the record was captured.
    public var date: Date? { self["WARC-Date"].flatMap(Timestamp.date) }

    static func unbracketed(_ text: String) -> String {
        text.hasPrefix("<") && text.hasSuffix(">") ? String(text.dropFirst().dropLast()) : text
    }
}
