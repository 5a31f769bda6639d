import Foundation
import WaystationArchive
import WaystationHTTP
import WaystationStorage

/// Reads a WACZ, a zip with WARCs, their index and a list of pages (<https://specs.webrecorder.net/wacz/1.1.1/>).
struct WACZReader {
    /// The first bytes of a zip with at least one member.
    static let beginning: [UInt8] = [0x50, 0x4B, 3, 4]

    private static let warcs = [".warc", ".warc.gz", ".warc.zst"]
    private static let indices = [".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz"]
    /// The longest line of an index or of a list of pages; a line of a list may have the text of a page.
    private static let maximumLine = 4 << 20
    /// The largest member that is unpacked, so that a small zip does not fill the disk.
    private static let maximumUnpacked = 4 << 30

    private let archive: ZipArchive
    private let file: URL

    /// Opens the zip.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - file: Its name, for errors.
    /// - Throws: ``RecordingError`` when the zip is damaged.
    init(_ source: FileSource, _ file: URL) throws(RecordingError) {
        var limits = ZipLimits()
        // The archives of large sites are larger than the packs that the limits are made for.
        limits.maximumEntrySize = 1 << 42
        limits.maximumTotalSize = 1 << 43
        self.file = file
        do { archive = try ZipArchive(source, limits: limits) } catch { throw Self.damaged(file, error) }
    }

    /// The WARCs with their names, in the order of the zip's directory.
    ///
    /// One that is stored, as the format asks for, is read in its place; one that is deflated is unpacked into a temporary
    /// file.
    ///
    /// - Parameter areChecked: Whether the CRC-32 of each WARC is checked first, for which all of it is read.
    /// - Returns: The WARCs; at least one.
    /// - Throws: ``RecordingError`` when a WARC is damaged, or when the zip has no WARC.
    func warcs(areChecked: Bool) throws(RecordingError) -> [(name: String, source: any ByteSource)] {
        let warcs: [(name: String, source: any ByteSource)]
        do {
            warcs = try entries(in: "archive/", Self.warcs).map { entry in
                let name = entry.path.split(separator: "/").last.map(String.init) ?? entry.path
                return (name, try bytes(of: entry, isChecked: areChecked))
            }
        } catch { throw Self.damaged(file, error) }
        guard !warcs.isEmpty else {
            throw RecordingError(
                .unknownFormat,
                "\(file.path) is a zip without a WARC in archive/, so it is not a WACZ: install a pack with waystation install"
            )
        }
        return warcs
    }

    /// Passes on the lines of the index.
    ///
    /// - Parameter body: Gets one capture after the other.
    /// - Returns: Whether the index has a line.
    /// - Throws: ``RecordingError`` when it is damaged.
    func readIndex(_ body: (CDXJLine) -> Void) throws(RecordingError) -> Bool {
        var hasLine = false
        for entry in entries(in: "indexes/", Self.indices) {
            try readLines(of: entry) { text in
                guard let line = CDXJLine(text) else { return }
                hasLine = true
                body(line)
            }
        }
        return hasLine
    }

    /// The URLs of the pages at which a reader begins, in the order of the list.
    ///
    /// - Throws: ``RecordingError`` when the list is damaged.
    func pages() throws(RecordingError) -> [String] {
        struct Page: Decodable { let url: String }
        guard let entry = archive["pages/pages.jsonl"] else { return [] }
        var pages: [String] = []
        try readLines(of: entry) { line in
            // The first line describes the list.
            if let page = try? JSONDecoder().decode(Page.self, from: Data(line.utf8)) { pages.append(page.url) }
        }
        return pages
    }

    private func entries(in folder: String, _ suffixes: [String]) -> [ZipEntry] {
        archive.entries.filter { entry in
            !entry.isDirectory && entry.path.hasPrefix(folder)
                && suffixes.contains { entry.path.lowercased().hasSuffix($0) }
        }
    }

    private func bytes(of entry: ZipEntry, isChecked: Bool) throws -> any ByteSource {
        if let stored = archive.source(of: entry) {
            if isChecked { try archive.read(entry) { _ in } }
            return stored
        }
        guard entry.size <= Self.maximumUnpacked else {
            throw RecordingError(
                .tooLarge,
                "\(entry.path.quoted()) is compressed by the zip, and has more than \(Self.maximumUnpacked) bytes: store it"
            )
        }
        let fileSystem = LocalFileSystem()
        let name = "waystation-\(UUID().uuidString).warc"
        let path = FileManager.default.temporaryDirectory.appending(path: name).path(percentEncoded: false)
        let unpacked = try fileSystem.createFile(path)
        // Its space is free as soon as it is closed.
        try fileSystem.removeFile(path)
        try archive.read(entry) { try fileSystem.write(Data($0), to: unpacked) }
        return try FileSource(unpacked)
    }

    /// Passes on the lines of a file of the zip, which may be compressed by gzip too.
    private func readLines(of entry: ZipEntry, _ body: (String) -> Void) throws(RecordingError) {
        let bytes: any ByteSource
        do { bytes = try self.bytes(of: entry, isChecked: false) } catch { throw Self.damaged(file, error) }
        let input = try RecordInput(bytes)
        while try input.peekByte() != nil {
            var line = try input.readLine(limit: Self.maximumLine)
            // The last line may have no end.
            if line == nil {
                line = try input.read(Self.maximumLine)
                guard try input.peekByte() == nil else {
                    let message = "\(entry.path.quoted()) has a line of more than \(Self.maximumLine) bytes"
                    throw RecordingError(.tooLarge, message)
                }
            }
            body(String(decoding: line ?? Data(), as: UTF8.self))
        }
    }

    private static func damaged(_ file: URL, _ error: any Error) -> RecordingError {
        let detail = (error as? any CodedError)?.message ?? "it cannot be read"
        return RecordingError(.damagedZip, "\(file.path) is a damaged zip: \(detail)", cause: error)
    }
}
