import HTTPTypes
package import WaystationFoundation
package import WaystationHTTP
package import WaystationStorage

/// A partly downloaded file, and the record beside it.
package struct PartialFile {
    /// The names of a download's files, all in one directory.
    package struct Paths: Hashable, Sendable {
        package let directory: String
        /// The bytes that have arrived so far.
        package let part: String
        /// The ``DownloadRecord`` of the bytes that have arrived.
        package let record: String
        /// The new record, before it is renamed to ``record``.
        package let newRecord: String
        /// The complete file.
        package let done: String

        package init(directory: String, part: String, record: String, newRecord: String, done: String) {
            self.directory = directory
            self.part = part
            self.record = record
            self.newRecord = newRecord
            self.done = done
        }
    }

    private let files: any FileSystem
    private let paths: Paths
    private let file: OpenFile
    package private(set) var length = 0
    /// The data that a later attempt needs.
    package var record: DownloadRecord

    private init(_ files: any FileSystem, _ paths: Paths, _ file: OpenFile, _ record: DownloadRecord, length: Int = 0) {
        self.files = files
        self.paths = paths
        self.file = file
        self.record = record
        self.length = length
    }

    /// Opens the partial file of an earlier attempt; nil when it cannot be resumed.
    ///
    /// - Parameters:
    ///   - wanted: The record of this attempt, whose URL and digest count.
    ///   - size: The length that the file must have; nil for any.
    ///   - paths: The names of the files.
    ///   - files: The file system.
    ///   - read: Called with all bytes of the file in their order; nil if they need not be read.
    /// - Returns: The file, whose next bytes are asked for.
    /// - Throws: ``FileError``; `CancellationError` if the task is cancelled while the bytes are read.
    package static func resuming(
        _ wanted: DownloadRecord,
        size: Int? = nil,
        _ paths: Paths,
        _ files: any FileSystem,
        read: ((Data) -> Void)? = nil
    ) throws -> PartialFile? {
        guard try files.status(of: paths.part)?.kind == .file, let record = try record(at: paths.record, files) else {
            return nil
        }
        let file = try files.openFileForAppending(paths.part)
        let length = try files.length(of: file)
        guard record.allowsResuming(wanted, size: size, from: length) else { return nil }
        var offset = 0
        while let read, offset < length {
            try Task.checkCancellation()
            let bytes = try files.read(file, at: offset, count: min(1 << 20, length - offset))
            guard !bytes.isEmpty else { return nil }
            read(bytes)
            offset += bytes.count
        }
        return PartialFile(files, paths, file, record, length: length)
    }

    private static func record(at path: String, _ files: any FileSystem) throws -> DownloadRecord? {
        guard let status = try files.status(of: path), status.kind == .file, status.size <= 1 << 16 else { return nil }
        let bytes = try files.read(files.openFile(path), at: 0, count: status.size)
        // An unreadable record counts as missing: the download starts again.
        return try? JSONDecoder().decode(DownloadRecord.self, from: bytes)
    }

    /// Creates an empty partial file, in place of an earlier one.
    package static func beginning(
        _ record: DownloadRecord,
        _ paths: Paths,
        _ files: any FileSystem
    ) throws -> PartialFile {
        // Each step is synchronised to the disk before the next: old bytes must never lie beside a new record.
        try files.removeFile(paths.part)
        try files.synchronizeDirectory(paths.directory)
        try write(record, paths, files)
        return PartialFile(files, paths, try files.createFile(paths.part), record)
    }

    private static func write(_ record: DownloadRecord, _ paths: Paths, _ files: any FileSystem) throws {
        let bytes = try JSONEncoder().encode(record)
        try files.removeFile(paths.newRecord)
        let file = try files.createFile(paths.newRecord)
        try files.write(bytes, to: file)
        try files.synchronize(file)
        try files.rename(paths.newRecord, to: paths.record)
    }

    /// Appends bytes that have arrived.
    package mutating func append(_ bytes: Data) throws {
        try files.write(bytes, to: file)
        length += bytes.count
    }

    /// Ends the attempt and leaves the part to a later one.
    ///
    /// When the record cannot be written, the later attempt starts again or relies on the digest. The error is dropped,
    /// since the caller must get the reason why the download stopped.
    package mutating func leave() {
        do {
            try files.synchronize(file)
            // A write that failed may have written some bytes.
            length = try files.length(of: file)
            record.synchronized = length
            try Self.write(record, paths, files)
        } catch {
            try? files.removeFile(paths.newRecord)
        }
    }

    /// Renames the complete file to its final name, and synchronises the directory.
    package func finish() throws {
        try files.synchronize(file)
        // Another download into the same file may have begun meanwhile, in place of this one.
        guard try files.identity(of: paths.part) == files.identity(of: file) else {
            throw FileError("finish", paths.part, code: ESTALE)
        }
        try files.rename(paths.part, to: paths.done)
        try files.synchronizeDirectory(paths.directory)
        try Self.remove(paths, files)
    }

    /// Deletes the partial file and its record.
    package static func remove(_ paths: Paths, _ files: any FileSystem) throws {
        for path in [paths.part, paths.record, paths.newRecord] { try files.removeFile(path) }
    }
}

/// The record beside a partial file, with which a later attempt can resume the download.
///
/// One JSON object in the file `<key>.json`, replaced by rename:
///
/// ```json
/// {"version": 1, "url": "https://cdn.example/cart.zip", "digest": "sha256-…", "total": 81920, "synchronized": 40960,
///  "validators": {"entityTag": "\"v7\""}}
/// ```
package struct DownloadRecord: Codable, Hashable, Sendable {
    private static let currentVersion = 1

    package var version = Self.currentVersion
    /// The URL, and the digest of the whole file as text; a partial file with another URL or digest is not resumed.
    package var url: URL
    package var digest: String?
    /// Bytes in total, as the server announced them; nil when it did not.
    package var total: Int?
    /// How many bytes of the partial file are known to be synchronised to the disk; nil while an attempt runs.
    package var synchronized: Int?
    package var validators: Validators

    package init(
        url: URL,
        digest: String? = nil,
        total: Int? = nil,
        synchronized: Int? = nil,
        validators: Validators = Validators([:])
    ) {
        self.url = url
        self.digest = digest
        self.total = total
        self.synchronized = synchronized
        self.validators = validators
    }

    /// Whether a partial file of `length` bytes may be resumed.
    ///
    /// With a digest, it may: the digest is checked at the end. Without one, there must be a validator, and all bytes
    /// must be known to be synchronised to the disk: a crash may have lost what was written after that.
    package func allowsResuming(_ wanted: DownloadRecord, size: Int? = nil, from length: Int) -> Bool {
        guard version == Self.currentVersion, url == wanted.url, digest == wanted.digest, length > 0 else {
            return false
        }
        if let expected = size ?? total, length > expected { return false }
        return wanted.digest != nil || (validators.condition != nil && synchronized == length)
    }
}
