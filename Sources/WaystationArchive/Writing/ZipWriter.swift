public import Foundation
public import WaystationFileSystem

/// Writes a zip archive as a stream, from front to back.
///
/// ```swift
/// let writer = ZipWriter { try file.write(contentsOf: Data($0)) }
/// try writer.add("index.html", from: page)
/// try writer.finish()
/// ```
///
/// The same calls with the same bytes write the same archive, as long as zlib stays the same: the caller decides the
/// order, times are the first of 1980 if not given, attributes are fixed, names are UTF-8, there are no extra fields
/// and no descriptors, and the zip64 form is used only where a number needs it. ``ZipArchive`` reads every archive that
/// a writer makes, with the same limits on names.
///
/// Only one thread at a time may use a writer. After a failure the archive cannot be continued.
public final class ZipWriter {
    /// Takes the next bytes of the archive, which are valid only during the call.
    public typealias Sink = (UnsafeRawBufferPointer) throws -> Void

    /// The method by which an entry is stored.
    public struct Compression: Sendable, Hashable {
        /// zlib's level; `nil` for no compression.
        let level: Int?

        /// Stored without compression.
        public static let stored = Compression(level: nil)
        /// Deflated with zlib's usual level, 6, if that makes it smaller.
        public static let deflated = deflated(level: 6)
        /// Deflated, if that makes it smaller.
        ///
        /// The level goes from 1, the fastest, to 9, the smallest.
        ///
        /// A level outside this range becomes the nearest one in it.
        public static func deflated(level: Int) -> Compression { Compression(level: min(max(level, 1), 9)) }
    }

    private enum Stage { case open, closed }

    private let sink: Sink
    private let limits: ZipLimits
    private let wideBound: Int
    private var names: NameTree
    private var entries: [WrittenEntry] = []
    private var offset = 0
    private var stage = Stage.open

    /// Starts an archive.
    ///
    /// Only the limits on names, on the number of entries and on the ratio apply: a file that would shrink too much for a
    /// reader is stored.
    public convenience init(limits: ZipLimits = ZipLimits(), to sink: @escaping Sink) {
        self.init(limits: limits, wideBound: Int(UInt32.max), to: sink)
    }

    init(limits: ZipLimits, wideBound: Int, to sink: @escaping Sink) {
        self.limits = limits
        self.wideBound = wideBound
        self.sink = sink
        names = NameTree(maximumCount: limits.maximumEntries)
    }

    /// Starts an archive in a new file.
    package convenience init(
        limits: ZipLimits = ZipLimits(),
        to file: OpenFile,
        using fileSystem: any FileSystem
    ) {
        self.init(limits: limits) { try fileSystem.write(Data($0), to: file) }
    }

    /// Adds a file.
    ///
    /// The source must not change meanwhile: it is read twice when its form in the archive has more than 4 MiB or when
    /// deflating does not make it smaller. Memory use stays below 10 MiB.
    ///
    /// - Throws: ``ZipError`` when a reader would refuse the path or the source changed, or the error of the source or
    ///   the sink.
    public func add(
        _ path: String,
        from source: any ByteSource,
        compression: Compression = .deflated,
        modified: ZipTime = .earliest
    ) throws {
        try write {
            let name = try claim(path, isDirectory: false)
            let content = try CompressedEntry(source, compression: compression, maximumRatio: limits.maximumRatio)
            try put(name, isDirectory: false, modified: modified, content: content)
        }
    }

    /// Adds a file of bytes in memory.
    ///
    /// - Throws: ``ZipError`` when a reader would refuse the path, or the sink's error.
    public func add(
        _ path: String,
        from data: Data,
        compression: Compression = .deflated,
        modified: ZipTime = .earliest
    ) throws {
        try add(path, from: DataSource(data), compression: compression, modified: modified)
    }

    /// Adds a directory; only empty directories need to be added.
    ///
    /// - Throws: ``ZipError`` when a reader would refuse the path, or the sink's error.
    public func addDirectory(_ path: String, modified: ZipTime = .earliest) throws {
        try write {
            let name = try claim(path, isDirectory: true)
            let nothing = try CompressedEntry(DataSource(Data()), compression: .stored)
            try put(name, isDirectory: true, modified: modified, content: nothing)
        }
    }

    /// Writes the directory, which completes the archive.
    ///
    /// - Throws: ``ZipError`` when the archive was finished or failed before, or the sink's error.
    public func finish() throws {
        try write {
            let start = offset
            for entry in entries { try send(entry.centralHeader) }
            let end = EndRecords(
                entryCount: entries.count,
                directorySize: offset - start,
                directoryOffset: start,
                wideBound: wideBound
            )
            try send(end.bytes)
        }
        stage = .closed
    }

    /// Does one call's work; the writer stays open only if it succeeds.
    private func write(_ work: () throws -> Void) throws {
        guard stage == .open else {
            throw ZipError(.writerClosed, "the archive is finished or failed; start another one for more entries")
        }
        stage = .closed
        try work()
        stage = .open
    }

    private func claim(_ path: String, isDirectory: Bool) throws -> [UInt8] {
        let checked = try EntryPath(isDirectory ? path + "/" : path, limits: limits)
        guard checked.isDirectory == isDirectory else {
            throw ZipError(.kindMismatch, entry: path, "is a file but ends in a slash; add it without the slash")
        }
        guard try names.insert(checked) else { throw NameTree.collision(checked) }
        return Array((isDirectory ? path + "/" : path).utf8)
    }

    private func put(_ name: [UInt8], isDirectory: Bool, modified: ZipTime, content: CompressedEntry) throws {
        let entry = WrittenEntry(
            name: name,
            isDirectory: isDirectory,
            method: content.method,
            modified: modified,
            crc32: content.crc32,
            size: content.size,
            compressedSize: content.compressedSize,
            offset: offset,
            wideBound: wideBound
        )
        try send(entry.localHeader)
        try content.write { try send($0) }
        entries.append(entry)
    }

    private func send(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try send($0) }
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws {
        try sink(bytes)
        offset += bytes.count
    }
}
