public import Foundation
public import WaystationStorage

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

extension ZipWriter {
    /// Writes an archive of everything in a folder.
    ///
    /// The same contents always give the same archive, regardless of the folder's place and of times, owners and modes:
    /// entries are sorted by the UTF-8 bytes of their paths, and directories are entries only when they are empty.
    ///
    /// - Parameters:
    ///   - folder: The folder to archive. It must contain only files and directories, and must not change meanwhile.
    ///   - file: The archive to write; no file may exist there yet. Remove it after a failure.
    ///   - compression: The method for each file.
    /// - Throws: ``ZipError`` for names and kinds of files that an archive cannot contain, or the disk's error, such as
    ///   `FileError`.
    public static func write(
        folder: URL,
        to file: URL,
        compression: Compression = .deflated
    ) throws {
        try file.checkIsFile(for: "create")
        try write(
            folder: folder.path(percentEncoded: false),
            to: file.path(percentEncoded: false),
            compression: compression,
            using: LocalFileSystem()
        )
    }

    /// Writes an archive of everything in a folder of any file system, and synchronizes it if `synchronizes` is `true`.
    package static func write(
        folder: String,
        to file: String,
        compression: Compression = .deflated,
        limits: ZipLimits = ZipLimits(),
        synchronizes: Bool = false,
        using fileSystem: any FileSystem
    ) throws {
        let paths = try FolderWalk(folder, fileSystem: fileSystem).paths()
        let output = try fileSystem.createFile(file)
        let writer = ZipWriter(limits: limits, to: output, using: fileSystem)
        for path in paths {
            if path.isDirectory {
                try writer.addDirectory(path.relative)
            } else {
                let source = try FileSource(fileSystem.openFile(folder + "/" + path.relative))
                try writer.add(path.relative, from: source, compression: compression)
            }
        }
        try writer.finish()
        if synchronizes { try fileSystem.synchronize(output) }
    }
}

/// The files and empty directories below a folder.
private struct FolderWalk {
    struct Path {
        let relative: String
        let isDirectory: Bool
    }

    private let root: String
    private let fileSystem: any FileSystem

    init(_ root: String, fileSystem: any FileSystem) {
        self.root = root
        self.fileSystem = fileSystem
    }

    /// All paths, sorted by their bytes.
    func paths() throws -> [Path] {
        guard try fileSystem.status(of: root)?.kind == .directory else { throw FileError("list", root, code: ENOTDIR) }
        var found: [Path] = []
        var pending = [""]
        while let directory = pending.popLast() {
            let names = try fileSystem.contents(of: directory.isEmpty ? root : root + "/" + directory)
            if names.isEmpty, !directory.isEmpty { found.append(Path(relative: directory, isDirectory: true)) }
            for name in names {
                let path = directory.isEmpty ? name : directory + "/" + name
                switch try fileSystem.status(of: root + "/" + path)?.kind {
                case .file: found.append(Path(relative: path, isDirectory: false))
                case .directory: pending.append(path)
                case .symbolicLink:
                    throw ZipError(.symbolicLink, entry: path, "is a symbolic link; put the file in its place")
                case .other:
                    throw ZipError(.specialFile, entry: path, "is not a file or directory; remove it from the folder")
                case nil:
                    throw ZipError.sourceChanged
                }
            }
        }
        // Paths are compared as bytes: text may sort differently in another version of Unicode.
        return found.sorted { $0.relative.utf8.lexicographicallyPrecedes($1.relative.utf8) }
    }
}

/// The records after the directory (APPNOTE 4.3.14 to 4.3.16); those of zip64 only when they are needed.
struct EndRecords {
    let entryCount: Int
    let directorySize: Int
    let directoryOffset: Int
    /// The value from which sizes are written with 64 bits; only tests use another than the format's own.
    let wideBound: Int

    var bytes: [UInt8] {
        let isWide =
            entryCount >= Int(UInt16.max) || directorySize >= wideBound || directoryOffset >= wideBound
        var bytes = isWide ? wideRecords : []
        func narrow(_ number: Int) -> UInt32 { number >= wideBound ? UInt32.max : UInt32(clamping: number) }
        bytes.append(littleEndian: UInt32(0x0605_4B50))
        bytes.append(littleEndian: UInt32(0))  // this disk, and the directory's
        bytes.append(littleEndian: UInt16(clamping: entryCount))
        bytes.append(littleEndian: UInt16(clamping: entryCount))
        bytes.append(littleEndian: narrow(directorySize))
        bytes.append(littleEndian: narrow(directoryOffset))
        bytes.append(littleEndian: UInt16(0))  // comment
        return bytes
    }

    private var wideRecords: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt32(0x0606_4B50))
        bytes.append(littleEndian: UInt64(44))  // the length of the rest of this record
        bytes.append(littleEndian: 3 << 8 | WrittenEntry.zip64Version)
        bytes.append(littleEndian: WrittenEntry.zip64Version)
        bytes.append(littleEndian: UInt64(0))  // this disk, and the directory's
        bytes.append(littleEndian: UInt64(entryCount))
        bytes.append(littleEndian: UInt64(entryCount))
        bytes.append(littleEndian: UInt64(directorySize))
        bytes.append(littleEndian: UInt64(directoryOffset))

        bytes.append(littleEndian: UInt32(0x0706_4B50))
        bytes.append(littleEndian: UInt32(0))  // the disk of the record above
        bytes.append(littleEndian: UInt64(directoryOffset + directorySize))
        bytes.append(littleEndian: UInt32(1))  // disks
        return bytes
    }
}

/// An entry as a writer describes it, in its local header and in the directory.
///
/// The attributes are the same for all: made on Unix, files 0644 and directories 0755, names in UTF-8.
struct WrittenEntry {
    /// The name's bytes; a directory's name ends in a slash.
    let name: [UInt8]
    let isDirectory: Bool
    let method: ZipMethod
    let modified: ZipTime
    let crc32: UInt32
    let size: Int
    let compressedSize: Int
    let offset: Int
    /// The value from which numbers are written with 64 bits; only tests use another than the format's own.
    let wideBound: Int

    private static let localSignature: UInt32 = 0x0403_4B50
    private static let centralSignature: UInt32 = 0x0201_4B50
    private static let unix: UInt16 = 3 << 8
    private static let deflateVersion: UInt16 = 20
    static let zip64Version: UInt16 = 45

    /// The header before the data (APPNOTE 4.3.7).
    var localHeader: [UInt8] {
        // In a local header, the zip64 field has both sizes or is absent.
        let isWide = size >= wideBound || compressedSize >= wideBound
        var extra: [UInt8] = []
        if isWide { extra = Self.zip64Field([size, compressedSize]) }
        var header: [UInt8] = []
        header.append(littleEndian: Self.localSignature)
        header.append(littleEndian: isWide ? Self.zip64Version : Self.deflateVersion)
        appendCommonFields(to: &header)
        header.append(littleEndian: isWide ? UInt32.max : UInt32(clamping: compressedSize))
        header.append(littleEndian: isWide ? UInt32.max : UInt32(clamping: size))
        header.append(littleEndian: UInt16(clamping: name.count))
        header.append(littleEndian: UInt16(clamping: extra.count))
        return header + name + extra
    }

    /// The header in the directory (APPNOTE 4.3.12).
    var centralHeader: [UInt8] {
        let wide = [size, compressedSize, offset].filter { $0 >= wideBound }
        let extra = wide.isEmpty ? [] : Self.zip64Field(wide)
        let version = wide.isEmpty ? Self.deflateVersion : Self.zip64Version
        func narrow(_ number: Int) -> UInt32 { number >= wideBound ? UInt32.max : UInt32(clamping: number) }
        var header: [UInt8] = []
        header.append(littleEndian: Self.centralSignature)
        header.append(littleEndian: Self.unix | version)
        header.append(littleEndian: version)
        appendCommonFields(to: &header)
        header.append(littleEndian: narrow(compressedSize))
        header.append(littleEndian: narrow(size))
        header.append(littleEndian: UInt16(clamping: name.count))
        header.append(littleEndian: UInt16(clamping: extra.count))
        header.append(littleEndian: UInt16(0))  // comment
        header.append(littleEndian: UInt16(0))  // disk
        header.append(littleEndian: UInt16(0))  // internal attributes
        header.append(littleEndian: isDirectory ? UInt32(0o040_755) << 16 | 0x10 : UInt32(0o100_644) << 16)
        header.append(littleEndian: narrow(offset))
        return header + name + extra
    }

    private func appendCommonFields(to header: inout [UInt8]) {
        header.append(littleEndian: EntryFlags.utf8.rawValue)
        header.append(littleEndian: method.rawValue)
        // The time comes before the date.
        header.append(littleEndian: modified.packed)
        header.append(littleEndian: crc32)
    }

    private static func zip64Field(_ numbers: [Int]) -> [UInt8] {
        var field: [UInt8] = []
        field.append(littleEndian: ExtraFields.Identifier.zip64.rawValue)
        field.append(littleEndian: UInt16(numbers.count * 8))
        for number in numbers { field.append(littleEndian: UInt64(number)) }
        return field
    }
}
