import Foundation
import WaystationArchive
import WaystationHTTP
import WaystationStorage

/// Writes a WACZ 1.1.1 file (<https://specs.webrecorder.net/wacz/1.1.1/>): a zip with a WARC and what a player needs to
/// find pages in it without reading all of it.
///
/// | Member | Contents |
/// | --- | --- |
/// | `archive/data.warc.gz` | the records, stored and not deflated, so that a player reads any of them in place |
/// | `indexes/index.cdx.gz` | the sorted lines of ``CDXJLine``, 300 in each member of gzip |
/// | `indexes/index.idx` | the first key of each member, and its place |
/// | `pages/pages.jsonl` | the captures of documents, in the order in which they were loaded |
/// | `datapackage.json` | the other members with their sizes and digests |
/// | `datapackage-digest.json` | the digest of `datapackage.json` |
///
/// The WARC is written beside the file until the zip is made. Only one thread at a time may use a writer.
final class WACZWriter {
    private static let warcName = "data.warc.gz"
    private static let linesOfBlock = 300

    private let file: URL
    private let warc: WARCWriter
    private let created: Date

    /// Begins a file.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be made.
    init(_ file: URL, created: Date) throws {
        self.file = file
        self.created = created
        warc = try WARCWriter(OutputFile(file), name: Self.warcName, isCompressed: true, created: created)
    }

    /// Adds a capture.
    ///
    /// - Throws: The errors of ``WARCWriter/append(_:)``.
    func append(_ capture: Capture) throws { try warc.append(capture) }

    /// Makes the zip, and gives the file its name.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be written.
    func finish() throws {
        let output = try OutputFile(file)
        let zip = ZipWriter { try output.write(Data($0)) }
        var package = DataPackage(created: created)
        let path = "archive/\(Self.warcName)"
        let records = try FileSource(LocalFileSystem().openFile(warc.file.temporaryPath))
        try zip.add(path, from: records, compression: .stored)
        package.add(path, length: records.length, digest: warc.digest.bytes)

        let index = try BlockIndex(warc.index.map(\.line.text), linesOfBlock: Self.linesOfBlock)
        let members = [
            ("indexes/index.cdx.gz", index.blocks, ZipWriter.Compression.stored),
            ("indexes/index.idx", index.places, .deflated), ("pages/pages.jsonl", pages, .deflated),
        ]
        for (path, data, compression) in members {
            try zip.add(path, from: data, compression: compression)
            package.add(path, length: data.count, digest: MessageDigest.of(data))
        }
        if let first = warc.index.first(where: \.isPage)?.line {
            package.mainPageUrl = first.url
            package.mainPageDate = Self.time(first)
        }
        let description = try Self.json(package)
        try zip.add("datapackage.json", from: description)
        let digest = ["path": "datapackage.json", "hash": DataPackage.text(MessageDigest.of(description))]
        try zip.add("datapackage-digest.json", from: Self.json(digest))
        try zip.finish()
        try output.finish()
    }

    private var pages: Data {
        var text = CDXJLine.json([("format", "json-pages-1.0"), ("id", "pages"), ("title", "Pages")]) + "\n"
        for (number, page) in warc.index.lazy.filter(\.isPage).enumerated() {
            let members = [("id", "\(number + 1)"), ("url", page.line.url), ("ts", Self.time(page.line))]
            text += CDXJLine.json(members) + "\n"
        }
        return Data(text.utf8)
    }

    /// The time of a capture, to the second, as in the index.
    private static func time(_ line: CDXJLine) -> String { Timestamp.seconds(line.date ?? .distantPast) }

    private static func json(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return try encoder.encode(value)
    }
}

/// The file that describes the members of a WACZ (Frictionless Data Package).
private struct DataPackage: Encodable {
    private struct Resource: Encodable {
        let name: String
        let path: String
        let hash: String
        let bytes: Int
    }

    private enum CodingKeys: String, CodingKey {
        case profile, created, software, resources, mainPageUrl, mainPageDate
        case version = "wacz_version"
    }

    private let profile = "data-package"
    private let version = "1.1.1"
    private let software = SoftwareVersion.product
    private let created: String
    private var resources: [Resource] = []
    var mainPageUrl: String?
    var mainPageDate: String?

    init(created: Date) { self.created = Timestamp.seconds(created) }

    mutating func add(_ path: String, length: Int, digest: [UInt8]) {
        let name = path.split(separator: "/").last.map { $0.lowercased() } ?? path
        resources.append(Resource(name: name, path: path, hash: Self.text(digest), bytes: length))
    }

    static func text(_ digest: [UInt8]) -> String { "sha256:\(digest.hexadecimal)" }
}

/// An index in compressed blocks, and the index of the blocks ("ZipNum").
private struct BlockIndex {
    /// The blocks, each a member of gzip.
    private(set) var blocks = Data()
    /// A line for each block.
    let places: Data

    init(_ lines: [String], linesOfBlock: Int) throws {
        let lines = lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var text = #"!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}"# + "\n"
        let deflater = try Deflater(level: 6, format: .gzip)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        for start in stride(from: 0, to: lines.count, by: linesOfBlock) {
            let block = lines[start..<min(lines.count, start + linesOfBlock)]
            var member = Data()
            try Data(block.map { $0 + "\n" }.joined().utf8).withUnsafeBytes { bytes in
                try deflater.deflate(bytes, isLast: true, through: buffer) { member.append(contentsOf: $0) }
            }
            let key = block[start].split(separator: " ").prefix(2).joined(separator: " ")
            let digest = DataPackage.text(MessageDigest.of(member))
            text += "\(key) {\"offset\": \(blocks.count), \"length\": \(member.count), \"digest\": \"\(digest)\"}\n"
            blocks += member
        }
        places = Data(text.utf8)
    }
}
