import Foundation
import WaystationArchive
import WaystationHTTP
import WaystationStorage

/// Finds the WARCs in a WACZ (<https://specs.webrecorder.net/wacz/1.1.1/>): the members of its zip in `archive/`.
enum WACZReader {
    /// The first bytes of a zip with at least one member.
    static let beginning: [UInt8] = [0x50, 0x4B, 3, 4]

    private static let suffixes = [".warc", ".warc.gz", ".warc.zst"]

    /// The WARCs, in the order of the zip's directory, after a check of each one's CRC-32.
    ///
    /// One that is stored, as the format asks for, is read in its place; one that is deflated is unpacked into a temporary
    /// file.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - file: Its name, for errors.
    /// - Returns: The WARCs; at least one.
    /// - Throws: ``RecordingError`` when the zip is damaged or has no WARC.
    static func warcs(of source: FileSource, _ file: URL) throws(RecordingError) -> [any ByteSource] {
        var limits = ZipLimits()
        // The archives of large sites are larger than the packs that the limits are made for.
        limits.maximumEntrySize = 1 << 42
        limits.maximumTotalSize = 1 << 43
        let warcs: [any ByteSource]
        do {
            let archive = try ZipArchive(source, limits: limits)
            warcs = try archive.entries.filter(isWARC).map { try bytes(of: $0, in: archive) }
        } catch {
            let detail = (error as? any CodedError)?.message ?? "it cannot be read"
            throw RecordingError(.damagedZip, "\(file.path) is a damaged zip: \(detail)", cause: error)
        }
        guard !warcs.isEmpty else {
            throw RecordingError(
                .unknownFormat,
                "\(file.path) is a zip without a WARC in archive/, so it is not a WACZ: install a pack with waystation install"
            )
        }
        return warcs
    }

    private static func isWARC(_ entry: ZipEntry) -> Bool {
        !entry.isDirectory && entry.path.hasPrefix("archive/")
            && suffixes.contains { entry.path.lowercased().hasSuffix($0) }
    }

    private static func bytes(of entry: ZipEntry, in archive: ZipArchive) throws -> any ByteSource {
        if let stored = archive.source(of: entry) {
            try archive.read(entry) { _ in }
            return stored
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
}
