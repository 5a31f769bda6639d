public import Foundation
public import WaystationStorage

/// A zip archive that passed all checks, open for reading.
///
/// ```swift
/// let archive = try ZipArchive(FileSource(url))
/// for entry in archive.entries where !entry.isDirectory { print(entry.path, entry.size) }
/// if let page = archive["index.html"] { print(try archive.read(page)) }
/// try await archive.extract(into: folder) { print($0.bytesDone, "of", $0.bytesTotal) }
/// ```
///
/// Opening reads the whole directory and every local header (APPNOTE 6.3.10), and refuses the archive when anything in
/// it is unsafe, contradicts itself or exceeds the limits; ``ZipError`` lists the reasons. An open archive has only
/// files and directories, with relative names that cannot be taken for one another.
///
/// Any thread may use an archive, and several may use it at once. The source must not change meanwhile.
public struct ZipArchive: Sendable {
    /// The entries in the order of the directory.
    public let entries: [ZipEntry]

    let source: any ByteSource
    /// Every directory that is an entry or contains one, parents before children.
    let directories: [String]
    private let indices: [String: Int]

    /// Opens an archive and checks all of it except the compressed data.
    ///
    /// Memory is used for the list of entries, within the limits, but not for their contents.
    ///
    /// - Throws: ``ZipError`` that names the rule and the entry that breaks it, or the source's error.
    public init(_ source: any ByteSource, limits: ZipLimits = ZipLimits()) throws {
        self.source = source
        (entries, directories) = try DirectoryReader(source, limits: limits).read()
        // No two names are equal as text: such an archive was refused.
        indices = Dictionary(zip(entries.map(\.path), entries.indices)) { first, _ in first }
    }

    /// The entry with exactly this path, without a slash at its end; `nil` if the archive has no such entry.
    ///
    /// - Complexity: O(1) in the number of entries.
    public subscript(path: String) -> ZipEntry? {
        // Swift compares all Unicode forms of a text as equal, but a path must match byte by byte.
        guard let index = indices[path], entries[index].path.utf8.elementsEqual(path.utf8) else { return nil }
        return entries[index]
    }

    /// The size of all entries together, in bytes.
    public var totalSize: Int { entries.reduce(0) { $0 + $1.size } }

    /// The bytes of an entry of this archive, with its size and CRC-32 checked.
    ///
    /// - Throws: ``ZipError`` when the data are damaged, or the source's error.
    public func read(_ entry: ZipEntry) throws -> Data {
        var data = Data(capacity: entry.size)
        try read(entry) { data.append(contentsOf: $0) }
        return data
    }

    /// Passes the bytes of an entry of this archive to `body` in order, in pieces of up to 64 KiB.
    ///
    /// `body` never gets more bytes than the entry's size. Whether the bytes are complete and have the right CRC-32 is
    /// known only when this returns.
    ///
    /// - Throws: ``ZipError`` when the data are damaged, the source's error, or the error of `body`.
    public func read(_ entry: ZipEntry, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        // A directory's entry without bytes has nothing to unpack, regardless of its compression method.
        if entry.isDirectory, entry.compressedSize == 0, entry.crc32 == 0 { return }
        try EntryReader(source).read(entry, body)
    }

    /// The bytes of an entry in their place in the archive; `nil` for an entry that is compressed.
    ///
    /// Its CRC-32 is not checked.
    package func source(of entry: ZipEntry) -> (any ByteSource)? {
        guard entry.method == .stored else { return nil }
        return SlicedSource(source, entry.dataOffset..<entry.dataOffset + entry.compressedSize)
    }
}
