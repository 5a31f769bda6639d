import Crypto
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
        let file = try fileSystem.createFile(place(path))
        var hash = SHA256()
        var offset = 0
        while offset < source.length {
            let part = try source.read(at: offset, count: 256 << 10)
            guard !part.isEmpty else { throw FileError("read", path, code: EIO) }
            hash.update(data: part)
            try fileSystem.write(part, to: file)
            offset += part.count
        }
        try fileSystem.synchronize(file)
        return (offset, hexadecimal(hash.finalize()))
    }

    /// Gives a file that another version has a place in this one: the same file where the disk can do that, else a copy.
    func link(_ existing: String, to path: String) throws {
        let destination = try place(path)
        do {
            try fileSystem.link(existing, as: destination)
        } catch let error as FileError where [EXDEV, EMLINK, EPERM, ENOTSUP].contains(error.code) {
            _ = try copy(FileSource(fileSystem.openFile(existing)), to: path)
        }
    }

    /// Compares every file with the manifest, on all cores.
    ///
    /// - Throws: ``PackError`` with the code `damaged`, naming the first file that differs.
    func check(_ manifest: PackManifest) throws {
        try inParallel(manifest.files) { [self] file in
            let source = try FileSource(fileSystem.openFile("\(files)/\(file.path)"))
            guard source.length == file.size, try source.sha256() == file.sha256 else {
                throw PackError(
                    .damaged,
                    "\"\(file.path)\" is not what the manifest of \(manifest.module) \(manifest.version) says: "
                        + "build the pack anew, or fetch it again"
                )
            }
        }
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

/// Does work for each element, on all cores; the first error ends it.
func inParallel<Element: Sendable>(_ elements: [Element], _ body: @escaping @Sendable (Element) throws -> Void) throws {
    let failure = FirstFailure()
    DispatchQueue.concurrentPerform(iterations: elements.count) { index in
        guard !failure.hasFailed else { return }
        do {
            try body(elements[index])
        } catch {
            failure.note(error)
        }
    }
    try failure.rethrow()
}
