import Foundation
import HTTPTypes
import WaystationHTTP
import WaystationStorage

/// The file names of one artifact in a downloader's directory.
struct ArtifactPaths: Hashable, Sendable {
    let directory: String
    /// The SHA-256 of the URL and the digest, so that another file under the same URL gets other names.
    let key: String

    init(_ artifact: Artifact, in directory: String) {
        self.directory = directory
        key = PackDigest(of: Data("\(artifact.url.absoluteString)\n\(artifact.digest?.description ?? "")".utf8)).hex
    }

    /// The path of a directory without a slash at its end.
    static func path(of directory: URL) -> String {
        var path = directory.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }

    /// The key in a file's name; nil when the name is not one that a downloader gives.
    static func key(of name: String) -> String? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, ["part", "json", "new", "done"].contains(parts[1]), parts[0].utf8.count == 64,
            parts[0].utf8.allSatisfy({ $0.hexadecimalDigit != nil })
        else { return nil }
        return String(parts[0])
    }

    /// The bytes that have arrived so far.
    var part: String { "\(directory)/\(key).part" }
    /// The ``DownloadRecord`` of the bytes that have arrived.
    var record: String { "\(directory)/\(key).json" }
    /// The new record, before it is renamed to ``record``.
    var newRecord: String { "\(directory)/\(key).new" }
    /// The complete, checked file.
    var done: String { "\(directory)/\(key).done" }
}

/// A partly downloaded artifact, with the digests of the bytes that have arrived.
struct PartialFile {
    private let files: any FileSystem
    private let paths: ArtifactPaths
    private let file: OpenFile
    private var digesters: [Digester]
    private(set) var length = 0
    /// The data that a later attempt needs.
    var record: DownloadRecord

    private init(_ files: any FileSystem, _ paths: ArtifactPaths, _ file: OpenFile, _ record: DownloadRecord) {
        self.files = files
        self.paths = paths
        self.file = file
        self.record = record
        digesters = [Digester(.sha256)]
        if let algorithm = record.digest?.algorithm, algorithm != .sha256 { digesters.append(Digester(algorithm)) }
    }

    /// Opens the partial file of an earlier attempt and reads it once for its digests; nil when it cannot be resumed.
    static func resuming(
        _ artifact: Artifact,
        _ paths: ArtifactPaths,
        _ files: any FileSystem
    ) throws -> PartialFile? {
        guard try files.status(of: paths.part)?.kind == .file, let record = try record(at: paths.record, files) else {
            return nil
        }
        let file = try files.openFileForAppending(paths.part)
        let length = try files.length(of: file)
        guard record.allowsResuming(artifact, from: length) else { return nil }
        var partial = PartialFile(files, paths, file, record)
        while partial.length < length {
            try Task.checkCancellation()
            let bytes = try files.read(file, at: partial.length, count: min(1 << 20, length - partial.length))
            guard !bytes.isEmpty else { return nil }
            partial.count(bytes)
        }
        return partial
    }

    private static func record(at path: String, _ files: any FileSystem) throws -> DownloadRecord? {
        guard let status = try files.status(of: path), status.kind == .file, status.size <= 1 << 16 else { return nil }
        let bytes = try files.read(files.openFile(path), at: 0, count: status.size)
        // An unreadable record counts as missing: the download starts again.
        return try? JSONDecoder().decode(DownloadRecord.self, from: bytes)
    }

    /// Creates an empty partial file, in place of an earlier one.
    static func beginning(
        _ record: DownloadRecord,
        _ paths: ArtifactPaths,
        _ files: any FileSystem
    ) throws -> PartialFile {
        // Each step is synchronised to the disk before the next: old bytes must never lie beside a new record.
        try files.removeFile(paths.part)
        try files.synchronizeDirectory(paths.directory)
        try write(record, paths, files)
        return PartialFile(files, paths, try files.createFile(paths.part), record)
    }

    private static func write(_ record: DownloadRecord, _ paths: ArtifactPaths, _ files: any FileSystem) throws {
        let bytes = try JSONEncoder().encode(record)
        try files.removeFile(paths.newRecord)
        let file = try files.createFile(paths.newRecord)
        try files.write(bytes, to: file)
        try files.synchronize(file)
        try files.rename(paths.newRecord, to: paths.record)
    }

    mutating func append(_ bytes: Data) throws {
        try files.write(bytes, to: file)
        count(bytes)
    }

    private mutating func count(_ bytes: Data) {
        length += bytes.count
        for index in digesters.indices { digesters[index].update(bytes) }
    }

    /// Ends the attempt and leaves the part to a later one.
    ///
    /// When the record cannot be written, the later attempt starts again or relies on the digest. The error is dropped,
    /// since the caller must get the reason why the download stopped.
    mutating func leave() {
        do {
            try files.synchronize(file)
            record.synchronized = length
            try Self.write(record, paths, files)
        } catch {}
    }

    /// The digests of all bytes, SHA-256 first.
    var digests: [PackDigest] { digesters.map(\.digest) }

    /// Renames the complete file to its final name, and synchronises the directory.
    func finish() throws {
        try files.synchronize(file)
        try files.rename(paths.part, to: paths.done)
        try files.synchronizeDirectory(paths.directory)
        try Self.remove(paths, files)
    }

    /// Deletes the partial file and its record.
    static func remove(_ paths: ArtifactPaths, _ files: any FileSystem) throws {
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
struct DownloadRecord: Codable, Hashable, Sendable {
    private static let currentVersion = 1

    var version = Self.currentVersion
    /// The artifact's URL and digest; a partial file with another URL or digest is not resumed.
    var url: URL
    var digest: PackDigest?
    /// Bytes in total, as the server announced them; nil when it did not.
    var total: Int?
    /// How many bytes of the partial file are known to be synchronised to the disk; nil while an attempt runs.
    var synchronized: Int?
    var validators: Validators

    /// Whether a partial file of `length` bytes may be resumed.
    ///
    /// With a digest, it may: the digest is checked at the end. Without one, there must be a validator, and all bytes
    /// must be known to be synchronised to the disk: a crash may have lost what was written after that.
    func allowsResuming(_ artifact: Artifact, from length: Int) -> Bool {
        guard version == Self.currentVersion, url == artifact.url, digest == artifact.digest, length > 0 else {
            return false
        }
        if let expected = artifact.size ?? total, length > expected { return false }
        return artifact.digest != nil || (validators.condition != nil && synchronized == length)
    }
}

/// The validators that distinguish one representation of a file from another, strictly enough to join two parts of it.
struct Validators: Hashable, Codable, Sendable {
    /// A strong entity tag, with its quotes.
    var entityTag: String?
    /// `Last-Modified`, if it counts as a strong validator.
    var lastModified: String?

    /// Reads the validators of a response that may be used with ranges (RFC 9110 §13.1.5).
    ///
    /// A weak tag says that two representations are equivalent, not that they have the same bytes, so it is left out. A
    /// date has a resolution of one second, and counts only when the response was made at least one second later
    /// (§8.8.2.2); otherwise the file may have changed again within that second.
    init(_ fields: HTTPFields) {
        // A tag longer than 1024 bytes is left out, so that the record stays small.
        if let text = fields[.eTag], text.utf8.count <= 1024, let tag = EntityTag(text), !tag.isWeak {
            entityTag = tag.fieldValue
        }
        if let text = fields[.lastModified], let modified = Self.date(text),
            let date = fields[.date].flatMap(Self.date),
            date.secondsSinceEpoch - modified.secondsSinceEpoch >= 1
        {
            lastModified = text
        }
    }

    private static func date(_ text: String) -> HTTPDate? {
        // The present matters only for the two-digit years of an obsolete date format; any value will do to compare two
        // dates.
        HTTPDate(text, now: HTTPDate(nearestTo: 1_767_225_600))
    }

    /// The value for `If-Range`; nil when there is no validator.
    var condition: String? { entityTag ?? lastModified }

    /// Whether these validators show that a part belongs to another representation than the earlier parts.
    func contradicts(_ earlier: Validators) -> Bool {
        if let entityTag, let known = earlier.entityTag { return entityTag != known }
        if entityTag == nil, earlier.entityTag == nil, let lastModified, let known = earlier.lastModified {
            return lastModified != known
        }
        return false
    }
}
