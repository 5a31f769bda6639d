import Foundation
import WaystationFileSystem

/// A version that is being put together: its files, then its manifest, then its place among the versions.
///
/// Until ``PackLibrary/commit(_:activating:onTrial:)`` nothing of it can be found, and when it goes away without one
/// it leaves nothing.
final class PackStaging: Sendable {
    private let directory: StagingDirectory
    let fileSystem: any FileSystem

    /// The folder that will be the version's.
    var root: String { directory.path + "/version" }
    /// Where its files go.
    var files: String { root + "/files" }
    /// A place for what is needed on the way, such as a zip that a patch has made.
    func scratch(_ name: String) -> String { directory.path + "/" + name }

    init(in layout: PackLayout, _ fileSystem: any FileSystem) throws {
        self.fileSystem = fileSystem
        directory = try StagingDirectory(in: layout.staging, fileSystem: fileSystem)
        try fileSystem.createDirectory(files)
    }

    /// Removes what is left of it; done anyway when its last owner goes.
    func discard() { directory.discard() }

    /// Makes the folders above a file of the pack, and says where the file goes.
    func place(_ path: String) throws -> String {
        let destination = "\(files)/\(path)"
        try fileSystem.createDirectory((destination as NSString).deletingLastPathComponent)
        return destination
    }

    /// Copies a file in.
    ///
    /// - Returns: Its size and digest.
    func copy(_ source: any ByteSource, to path: String) throws -> (size: Int, sha256: String) {
        let digests = try copy(source, to: fileSystem.createFile(place(path)), [Digester()])
        return (source.length, digests[0].hex)
    }

    @discardableResult
    private func copy(
        _ source: any ByteSource,
        to file: OpenFile,
        _ digesters: [Digester] = []
    ) throws -> [PackDigest] {
        var digesters = digesters
        var offset = 0
        while offset < source.length {
            try Task.checkCancellation()
            let part = try source.read(at: offset, count: 256 << 10)
            guard !part.isEmpty else { throw FileError("read", file.path, code: EIO) }
            for index in digesters.indices { digesters[index].update(part) }
            try fileSystem.write(part, to: file)
            offset += part.count
        }
        try fileSystem.synchronize(file)
        return digesters.map(\.digest)
    }

    /// Gives a file that another version has a place in this one: the same file where the disk can do that, else a copy.
    func link(_ existing: String, to path: String) throws {
        let destination = try place(path)
        do {
            try fileSystem.link(existing, as: destination)
        } catch let error as FileError where error.isNoLink {
            _ = try copy(FileSource(fileSystem.openFile(existing)), to: path)
        }
    }

    /// The zip that the version came from, where it is kept.
    var archive: String { root + "/archive.zip" }

    /// Keeps the zip that the version came from, for zip patches; the zip must be the library's own.
    func keep(archive zip: String) throws {
        do {
            try fileSystem.link(zip, as: archive)
        } catch let error as FileError where error.isNoLink {
            try copy(FileSource(fileSystem.openFile(zip)), to: fileSystem.createFile(archive))
        }
    }

    /// Keeps a copy of the zip that the version came from.
    ///
    /// Never a link: the file belongs to the app, which may write into it.
    ///
    /// - Returns: The SHA-256 and the MD5 of the copy.
    func keep(copyOf zip: any ByteSource) throws -> [PackDigest] {
        try copy(zip, to: fileSystem.createFile(archive), [Digester(.sha256), Digester(.md5)])
    }

    /// Writes the manifest and returns when every name of the version is on the medium.
    ///
    /// Its files are, when they were written here; ``synchronizeFiles`` does it for those that were not.
    func seal(_ json: Data) throws {
        let file = try fileSystem.createFile(root + "/manifest.json")
        try fileSystem.write(json, to: file)
        try fileSystem.synchronize(file)
        try synchronizeDirectories(files)
        try fileSystem.synchronizeDirectory(root)
    }

    private func synchronizeDirectories(_ path: String) throws {
        for name in try fileSystem.contents(of: path) {
            let child = "\(path)/\(name)"
            if try fileSystem.status(of: child)?.kind == .directory { try synchronizeDirectories(child) }
        }
        try fileSystem.synchronizeDirectory(path)
    }
}

extension FileError {
    /// Whether a second name for a file is what the file system cannot do.
    fileprivate var isNoLink: Bool { [EXDEV, EMLINK, EPERM, ENOTSUP].contains(code) }
}
