public import Foundation
import Synchronization
public import WaystationArchive
import WaystationStorage

/// Builds packs from folders.
public enum PackBuilder {
    /// Builds the zip of a pack: the manifest first, then the files, sorted by the bytes of their paths.
    ///
    /// The same folder and description always give the same bytes, regardless of the folder's path and its files'
    /// dates.
    ///
    /// - Parameters:
    ///   - folder: The folder of the web files. It must hold at least one file, and nothing but files and folders. A
    ///     manifest in it is replaced.
    ///   - description: The module, the version and the other properties of the pack.
    ///   - zip: The path of the new zip; nothing may exist there yet.
    ///   - compression: How each file is stored; deflated by default.
    /// - Returns: The manifest.
    /// - Throws: ``PackError``: `fileSystem` when the folder does not exist or the disk fails, `invalidArgument` when
    ///   the folder holds no files, or a name or kind of file that a pack cannot hold, when the description's minimum is
    ///   above its version, or when a URL is not a file URL. No file is left at `zip` then.
    @discardableResult
    public static func build(
        folder: URL,
        as description: PackDescription,
        to zip: URL,
        compression: ZipWriter.Compression = .deflated
    ) throws(PackError) -> PackManifest {
        for url in [folder, zip] {
            if let problem = url.fileURLProblem { throw PackError(.invalidArgument, problem) }
        }
        try PackManifest.checkMinimum(
            description.minimumPackVersion,
            of: description.module,
            description.version,
            remedy: "give"
        )
        let root = folder.path(percentEncoded: false).trimmingTrailingSlash
        let destination = zip.path(percentEncoded: false)
        let fileSystem = LocalFileSystem()
        do {
            // Without this check, a mistyped path would build an empty pack, and clients would lose the files they
            // have.
            guard try fileSystem.status(of: "\(root)/.")?.kind == .directory else {
                throw try fileSystem.status(of: root) == nil
                    ? PackError(.fileSystem, "\(root) does not exist: check the path")
                    : PackError(.invalidArgument, "\(root) is not a folder: give the folder of the web files")
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
                "\(destination) already exists: remove it, or give another name",
                cause: error
            )
        } catch {
            throw PackError(.fileSystem, "the pack of \(root) cannot be built", cause: error)
        }
    }
}

extension PackManifest {
    /// Refuses a pack that no client could use once it is installed.
    ///
    /// - Parameters:
    ///   - minimum: The lowest version of itself that the pack asks for.
    ///   - module: The module.
    ///   - version: The version of the pack.
    ///   - remedy: How to set another minimum, as the beginning of "… a minimum of at most 1.0" in the error's message.
    /// - Throws: ``PackError`` with the code `invalidArgument` if the minimum is higher than the version.
    package static func checkMinimum(
        _ minimum: PackVersion?,
        of module: ModuleID,
        _ version: PackVersion,
        remedy: String
    ) throws(PackError) {
        guard let minimum, minimum > version else { return }
        throw PackError(
            .invalidArgument,
            "\(module) \(version) asks for at least version \(minimum) of itself, so no client could use it: "
                + "\(remedy) a minimum of at most \(version)"
        )
    }
}

extension FileSystem {
    /// The paths of all files below a folder, relative to it.
    ///
    /// Throws when it finds something that is neither a file nor a folder.
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
                    "\(root)/\(path) is neither a file nor a folder; a pack can hold nothing else: leave it out"
                )
            }
        }
        return paths
    }
}
