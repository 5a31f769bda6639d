public import Foundation
public import WaystationFileSystem

/// A zip archive that was found to be sound, open for reading.
///
/// ```swift
/// let archive = try ZipArchive(FileSource(url))
/// for entry in archive.entries where !entry.isDirectory { print(entry.path, entry.size) }
/// if let page = archive["index.html"] { print(try archive.read(page)) }
/// try await archive.extract(into: folder) { print($0.bytesDone, "of", $0.bytesTotal) }
/// ```
///
/// Opening reads the whole directory and every local header (APPNOTE 6.3.10), and refuses the archive when anything in
/// it is unsafe, contradicts itself or goes beyond the limits; what ``ZipError`` lists. An archive that is open has
/// only files and directories, with relative names that cannot be taken for one another.
///
/// Safe to use from any thread, by several at once. The source must not change meanwhile.
public struct ZipArchive: Sendable {
    /// The entries in the order of the directory.
    public let entries: [ZipEntry]

    let source: any ByteSource
    /// Every directory that the entries lie in or are, each behind the one it lies in itself.
    let directories: [String]
    private let indices: [String: Int]

    /// Opens an archive and checks all of it but the compressed data.
    ///
    /// Takes memory for the entries, within the limits, and none for their contents.
    ///
    /// - Throws: ``ZipError`` that names the rule and the entry that breaks it, or what the source throws.
    public init(_ source: any ByteSource, limits: ZipLimits = ZipLimits()) throws {
        self.source = source
        (entries, directories) = try DirectoryReader(source, limits: limits).read()
        // Names that are equal as text were refused.
        indices = Dictionary(zip(entries.map(\.path), entries.indices)) { first, _ in first }
    }

    /// The entry with exactly this path, without a slash at its end; `nil` when there is none.
    ///
    /// - Complexity: O(1) in the number of entries.
    public subscript(path: String) -> ZipEntry? {
        // Text is equal in all its Unicode forms, a path only in one.
        guard let index = indices[path], entries[index].path.utf8.elementsEqual(path.utf8) else { return nil }
        return entries[index]
    }

    /// How many bytes all entries together have.
    public var totalSize: Int { entries.reduce(0) { $0 + $1.size } }

    /// The bytes of an entry of this archive, with its size and CRC-32 checked.
    ///
    /// - Throws: ``ZipError`` when the data are damaged, or what the source throws.
    public func read(_ entry: ZipEntry) throws -> Data {
        var data = Data(capacity: entry.size)
        try read(entry) { data.append(contentsOf: $0) }
        return data
    }

    /// Hands on the bytes of an entry of this archive in order, in pieces of up to 64 KiB.
    ///
    /// Size and CRC-32 are checked as far as they can be: there are never more bytes than stated, but that the bytes are
    /// right is known only when this returns.
    ///
    /// - Throws: ``ZipError`` when the data are damaged, what the source throws, or what `body` throws.
    public func read(_ entry: ZipEntry, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        // Whatever the method says: there is nothing to unpack.
        if entry.isDirectory, entry.compressedSize == 0, entry.crc32 == 0 { return }
        try EntryReader(source).read(entry, body)
    }
}
