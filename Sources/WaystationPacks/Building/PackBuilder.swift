public import Foundation
import Synchronization
public import WaystationArchive
import WaystationFileSystem

/// Makes packs of folders.
public enum PackBuilder {
    /// Makes the zip of a pack: the manifest, then the files, sorted by the bytes of their paths.
    ///
    /// The same folder and description always give the same bytes, wherever the folder lies and whatever its times are.
    ///
    /// - Parameters:
    ///   - folder: The web files: at least one, beside them only folders; a manifest in it is replaced.
    ///   - description: What the pack is.
    ///   - zip: Where to; nothing must be there yet.
    ///   - compression: How each file is kept; deflated by default.
    /// - Returns: The manifest.
    /// - Throws: ``PackError``: `fileSystem` when the folder is not there or the disk fails, `invalidArgument` when it holds
    ///   no files, or names and things that no pack takes; nothing is left at `zip`.
    @discardableResult
    public static func build(
        folder: URL,
        as description: PackDescription,
        to zip: URL,
        compression: ZipWriter.Compression = .deflated
    ) throws(PackError) -> PackManifest {
        let root = folder.path(percentEncoded: false).trimmingTrailingSlash
        let destination = zip.path(percentEncoded: false)
        let fileSystem = LocalFileSystem()
        do {
            // A mistyped folder would otherwise make a pack of nothing, and clients would lose what they have.
            guard try fileSystem.status(of: "\(root)/.")?.kind == .directory else {
                throw try fileSystem.status(of: root) == nil
                    ? PackError(.fileSystem, "\(root) is not there: check the path")
                    : PackError(.invalidArgument, "\(root) is no folder: give the folder of the web files")
            }
            let paths = try fileSystem.filePaths(below: root).filter { $0 != PackManifest.fileName }
            guard !paths.isEmpty else {
                throw PackError(
                    .invalidArgument,
                    "\(root) holds no files, and a pack needs at least one: check the path"
                )
            }
            let found = Mutex<[PackedFile]>([])
            try inParallel(paths) { path in
                let source = try FileSource(fileSystem.openFile("\(root)/\(path)"))
                let file = PackedFile(path: path, size: source.length, sha256: try PackDigest(of: source).hex)
                found.withLock { $0.append(file) }
            }
            let manifest = try description.manifest(of: found.withLock { $0 })
            let output = try fileSystem.createFile(destination)
            do {
                let writer = ZipWriter(to: output, using: fileSystem)
                try writer.add(PackManifest.fileName, from: DataSource(manifest.json()), compression: compression)
                for file in manifest.files {
                    let source = try FileSource(fileSystem.openFile("\(root)/\(file.path)"))
                    try writer.add(file.path, from: source, compression: compression)
                }
                try writer.finish()
                try fileSystem.synchronize(output)
            } catch {
                try? fileSystem.removeFile(destination)
                throw error
            }
            return manifest
        } catch let error as PackError {
            throw error
        } catch let error as FileError where error.code == EEXIST {
            throw PackError(
                .invalidArgument,
                "\(destination) is there already: remove it, or give another name",
                cause: error
            )
        } catch {
            throw PackError(.fileSystem, "the pack of \(root) cannot be built", cause: error)
        }
    }
}

extension FileSystem {
    /// The paths of all files below a folder, relative to it; a pack holds files and folders only.
    func filePaths(below root: String, _ prefix: String = "") throws -> [String] {
        var paths: [String] = []
        for name in try contents(of: "\(root)/\(prefix)").sorted() {
            let path = prefix + name
            switch try status(of: "\(root)/\(path)")?.kind {
            case .file: paths.append(path)
            case .directory: paths += try filePaths(below: root, path + "/")
            case .symbolicLink, .other, nil:
                throw PackError(
                    .invalidArgument,
                    "\(root)/\(path) is neither a file nor a folder; a pack holds only these: leave it out"
                )
            }
        }
        return paths
    }
}
