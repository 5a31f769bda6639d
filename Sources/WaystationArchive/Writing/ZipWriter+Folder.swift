public import Foundation
package import WaystationFileSystem

extension ZipWriter {
    /// Writes an archive of all that a folder has.
    ///
    /// The same folder always becomes the same archive, wherever it lies and whatever its times, owners and modes:
    /// entries are sorted by the UTF-8 bytes of their paths, and directories are entries only when they are empty.
    ///
    /// - Parameters:
    ///   - folder: What to put in. It must hold only files and directories, and not change meanwhile.
    ///   - file: Where to; nothing must be there yet. Remove it after a failure.
    ///   - compression: How each file is kept.
    /// - Throws: ``ZipError`` for names and things that no archive takes, or what the disk throws, such as `FileError`.
    public static func write(
        folder: URL,
        to file: URL,
        compression: Compression = .deflated
    ) throws {
        try write(
            folder: folder.path(percentEncoded: false),
            to: file.path(percentEncoded: false),
            compression: compression,
            using: LocalFileSystem()
        )
    }

    /// Writes an archive of all that a folder of any file system has; synchronized, if asked for.
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
                    throw ZipError(.specialFile, entry: path, "is no file and no directory; remove it from the folder")
                case nil:
                    throw ZipError.sourceChanged
                }
            }
        }
        // By bytes, not as text: text may sort differently on another day.
        return found.sorted { $0.relative.utf8.lexicographicallyPrecedes($1.relative.utf8) }
    }
}
