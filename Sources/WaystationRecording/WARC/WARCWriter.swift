import Foundation
import WaystationArchive
import WaystationHTTP
import WaystationStorage

/// Writes a WARC 1.1 file (ISO 28500:2017) capture by capture; see ``WARCReader`` for the form of a record.
///
/// The file begins with a `warcinfo` record. Each capture is a `response` and a `request` record. A body that the file has
/// already is not written again: the record is a `revisit` with the response's head, which refers to the first one (§6.7.2).
/// In a compressed file each record is a member of gzip, so that a reader can begin at any of them (annex D).
///
/// Digests are SHA-256: by an equal SHA-1, which can be forged, a record could get the body of another one. Memory holds a
/// piece of one body, and about 500 bytes for each capture. Only one thread at a time may use a writer.
final class WARCWriter {
    /// A capture that was written, as an index lists it.
    struct Indexed {
        let line: CDXJLine
        /// Whether a person would open the URL in a browser.
        let isPage: Bool
    }

    /// The first record with a body.
    private struct Original {
        let id: String
        let url: String
        let date: String
    }

    private static let pieceSize = 256 << 10
    private static let revisitProfile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

    /// The file.
    let file: OutputFile
    /// The captures so far that answer a GET: a player finds them by their URLs alone.
    private(set) var index: [Indexed] = []
    /// The digest of the bytes of the file so far.
    private(set) var digest = MessageDigest()

    private let name: String
    private let warcinfo: String
    private let deflater: Deflater?
    private let compressed = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: WARCWriter.pieceSize, alignment: 16)
    private var originals: [[UInt8]: Original] = [:]

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - name: Its name, which the `warcinfo` record and the index state.
    ///   - isCompressed: Whether the records are compressed with gzip.
    ///   - created: The present time.
    /// - Throws: ``RecordingError`` when the file cannot be written.
    init(_ file: OutputFile, name: String, isCompressed: Bool, created: Date) throws {
        self.file = file
        self.name = name.inOneLine
        // Level 6 takes twice the time of level 4, and makes pages smaller by 7 % only.
        deflater = isCompressed ? try Deflater(level: 4, format: .gzip) : nil
        warcinfo = Self.newID()
        let fields = [
            "software: \(SoftwareVersion.product)", "format: WARC File Format 1.1",
            "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        ]
        let block = Data(fields.map { $0 + "\r\n" }.joined().utf8)
        _ = try write(
            [
                ("WARC-Type", "warcinfo"), ("WARC-Record-ID", warcinfo), ("WARC-Date", Timestamp.microseconds(created)),
                ("WARC-Filename", self.name), ("Content-Type", "application/warc-fields"),
                ("WARC-Block-Digest", Self.text(MessageDigest.of(block))),
            ],
            head: block
        )
    }

    deinit {
        compressed.deallocate()
        piece.deallocate()
    }

    /// Writes the records of a capture.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be written; the error of reading the body. The file cannot be
    ///   continued then.
    func append(_ capture: Capture) throws {
        let id = Self.newID()
        let date = Timestamp.microseconds(capture.date)
        let common = [("WARC-Warcinfo-ID", warcinfo), ("WARC-Target-URI", capture.url), ("WARC-Date", date)]
        let head = capture.responseHead
        let digests = try digests(of: capture.body, after: head)
        let payload = Self.text(digests.payload)

        var fields = [("WARC-Record-ID", id)] + common + [("Content-Type", "application/http; msgtype=response")]
        fields.append(("WARC-Payload-Digest", payload))
        let isWhole = capture.truncation == nil && capture.body.length > 0
        let original = isWhole ? originals[digests.payload] : nil
        let place: Range<Int>
        if let original {
            fields += [
                ("WARC-Profile", Self.revisitProfile), ("WARC-Refers-To", original.id),
                ("WARC-Refers-To-Target-URI", original.url), ("WARC-Refers-To-Date", original.date),
                ("WARC-Block-Digest", Self.text(MessageDigest.of(head))),
            ]
            place = try write([("WARC-Type", "revisit")] + fields, head: head)
        } else {
            fields.append(("WARC-Block-Digest", Self.text(digests.block)))
            if let truncation = capture.truncation { fields.append(("WARC-Truncated", truncation)) }
            place = try write([("WARC-Type", "response")] + fields, head: head, body: capture.body)
            if isWhole { originals[digests.payload] = Original(id: id, url: capture.url, date: date) }
        }

        let request = capture.requestHead + capture.requestBody
        _ = try write(
            [("WARC-Type", "request"), ("WARC-Record-ID", Self.newID())] + common + [
                ("Content-Type", "application/http; msgtype=request"), ("WARC-Concurrent-To", id),
                ("WARC-Block-Digest", Self.text(MessageDigest.of(request))),
            ],
            head: request
        )
        guard capture.method == "GET" else { return }
        let line = CDXJLine(
            url: capture.url,
            date: capture.date,
            mime: original == nil ? capture.mime : "warc/revisit",
            status: "\(capture.status)",
            digest: payload,
            length: place.count,
            offset: place.lowerBound,
            filename: name
        )
        index.append(Indexed(line: line, isPage: capture.isPage))
    }

    private static func newID() -> String { "<urn:uuid:\(UUID().uuidString.lowercased())>" }

    private static func text(_ digest: [UInt8]) -> String { "sha256:\(digest.hexadecimal)" }

    private func digests(of body: any ByteSource, after head: Data) throws -> (payload: [UInt8], block: [UInt8]) {
        var (payload, block) = (MessageDigest(), MessageDigest())
        block.update(head)
        try read(body) { bytes in
            payload.update(bytes)
            block.update(bytes)
        }
        return (payload.bytes, block.bytes)
    }

    private func read(_ body: any ByteSource, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        var offset = 0
        while offset < body.length {
            let room = UnsafeMutableRawBufferPointer(rebasing: piece[..<min(piece.count, body.length - offset)])
            guard try body.read(at: offset, into: room) == room.count else {
                throw RecordingError(
                    .unreadable,
                    "a body became shorter while it was written: write the recording again"
                )
            }
            offset += room.count
            try take(UnsafeRawBufferPointer(room))
        }
    }

    /// Writes a record, and returns its place in the file.
    private func write(
        _ fields: [(name: String, value: String)],
        head: Data,
        body: (any ByteSource)? = nil
    ) throws -> Range<Int> {
        let start = file.length
        var text = "WARC/1.1\r\n"
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        text += "Content-Length: \(head.count + (body?.length ?? 0))\r\n\r\n"
        try (Data(text.utf8) + head).withUnsafeBytes { try put($0) }
        if let body { try read(body) { try put($0) } }
        try Data("\r\n\r\n".utf8).withUnsafeBytes { try put($0, isLast: true) }
        return start..<file.length
    }

    private func put(_ bytes: UnsafeRawBufferPointer, isLast: Bool = false) throws {
        guard let deflater else { return try store(bytes) }
        try deflater.deflate(bytes, isLast: isLast, through: compressed) { try store($0) }
    }

    private func store(_ bytes: UnsafeRawBufferPointer) throws {
        digest.update(bytes)
        try file.write(Data(bytes))
    }
}
