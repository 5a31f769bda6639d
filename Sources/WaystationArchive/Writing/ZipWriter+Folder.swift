public import Foundation
package import WaystationFileSystem

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
