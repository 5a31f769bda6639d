import Foundation
import Waystation
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

    /// The names of the files; the complete file has been checked.
    var files: PartialFile.Paths {
        let path = "\(directory)/\(key)"
        return PartialFile.Paths(
            directory: directory,
            part: path + ".part",
            record: path + ".json",
            newRecord: path + ".new",
            done: path + ".done"
        )
    }
}

/// A partly downloaded artifact, with the digests of the bytes that have arrived.
struct DigestedFile {
    private(set) var file: PartialFile
    private var digesters: [Digester]

    /// Opens the partial file of an earlier attempt and reads it once for its digests; nil when it cannot be resumed.
    static func resuming(
        _ artifact: Artifact,
        _ paths: PartialFile.Paths,
        _ files: any FileSystem
    ) throws -> DigestedFile? {
        var digesters = Self.digesters(of: artifact)
        let wanted = DownloadRecord(url: artifact.url, digest: artifact.digest?.description)
        let file = try PartialFile.resuming(wanted, size: artifact.size, paths, files) { bytes in
            for index in digesters.indices { digesters[index].update(bytes) }
        }
        return file.map { DigestedFile(file: $0, digesters: digesters) }
    }

    /// Creates an empty partial file, in place of an earlier one.
    static func beginning(
        _ artifact: Artifact,
        total: Int?,
        _ validators: Validators,
        _ paths: PartialFile.Paths,
        _ files: any FileSystem
    ) throws -> DigestedFile {
        let digest = artifact.digest?.description
        let record = DownloadRecord(url: artifact.url, digest: digest, total: total, validators: validators)
        return DigestedFile(
            file: try PartialFile.beginning(record, paths, files),
            digesters: digesters(of: artifact)
        )
    }

    private static func digesters(of artifact: Artifact) -> [Digester] {
        let own = artifact.digest?.algorithm
        return [Digester(.sha256)] + (own == nil || own == .sha256 ? [] : own.map { [Digester($0)] } ?? [])
    }

    var length: Int { file.length }
    var record: DownloadRecord { file.record }

    /// The digests of all bytes, SHA-256 first.
    var digests: [PackDigest] { digesters.map(\.digest) }

    mutating func setTotal(_ total: Int?) { file.record.total = total }

    mutating func append(_ bytes: Data) throws {
        try file.append(bytes)
        for index in digesters.indices { digesters[index].update(bytes) }
    }

    mutating func leave() { file.leave() }

    func finish() throws { try file.finish() }
}
