package import Foundation
import WaystationHTTP
package import WaystationStorage

/// A version that is being assembled: its files first, then its manifest.
///
/// The library does not find any of it before ``PackLibrary/commit(_:activating:onTrial:)``. If the object is released
/// without a commit, its files are deleted.
final class PackStaging: Sendable {
    private let directory: StagingDirectory
    let fileSystem: any FileSystem

    /// The folder that becomes the version's folder.
    var root: String { directory.path + "/version" }
    /// The folder of the version's files.
    var files: String { root + "/files" }
    /// The path of a temporary file, such as a zip that a patch makes.
    func scratch(_ name: String) -> String { directory.path + "/" + name }

    init(in layout: PackLayout, _ fileSystem: any FileSystem) throws {
        self.fileSystem = fileSystem
        directory = try StagingDirectory(in: layout.staging, fileSystem: fileSystem)
        try fileSystem.createDirectory(files)
    }

    /// Deletes the remaining files; happens anyway when the object is released.
    func discard() { directory.discard() }

    /// Creates the folders above a file of the pack, and returns the file's path.
    func place(_ path: String) throws -> String {
        let destination = "\(files)/\(path)"
        try fileSystem.createDirectory((destination as NSString).deletingLastPathComponent)
        return destination
    }

    /// Copies a file into the version.
    ///
    /// - Returns: The file's size and digest.
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

    /// Adds a file of another version to this one: as a hard link if the file system supports it, else as a copy.
    func link(_ existing: String, to path: String) throws {
        let destination = try place(path)
        do {
            try fileSystem.link(existing, as: destination)
        } catch let error as FileError where error.isNoLink {
            _ = try copy(FileSource(fileSystem.openFile(existing)), to: path)
        }
    }

    /// The path of the zip that the version was unpacked from, if it is kept.
    var archive: String { root + "/archive.zip" }

    /// Keeps the zip that the version was unpacked from, for zip patches; the zip must be the library's own.
    func keep(archive zip: String) throws {
        do {
            try fileSystem.link(zip, as: archive)
        } catch let error as FileError where error.isNoLink {
            try copy(FileSource(fileSystem.openFile(zip)), to: fileSystem.createFile(archive))
        }
    }

    /// Keeps a copy of the zip that the version was unpacked from.
    ///
    /// The copy is never a hard link: the file belongs to the app, which may write to it.
    ///
    /// - Returns: The SHA-256 and the MD5 of the copy.
    func keep(copyOf zip: any ByteSource) throws -> [PackDigest] {
        try copy(zip, to: fileSystem.createFile(archive), [Digester(.sha256), Digester(.md5)])
    }

    /// Writes the manifest, and synchronises it and all directories of the version to the disk.
    ///
    /// The content of the files was synchronised when they were written.
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
    /// Whether the file system cannot hard-link the file.
    fileprivate var isNoLink: Bool { [EXDEV, EMLINK, EPERM, ENOTSUP].contains(code) }
}

/// The paths in a library's directory.
///
/// ```
/// lock                              locked while a change is made
/// modules/shop/module.json          the record of its versions, and of the active one
/// modules/shop/1.4.2-5f0c9d8e/      a version: manifest.json, files/…, and archive.zip where zip patches are used
/// staging/9be1…/                    the files that one process unpacks; its file `lock` is locked while it runs
/// downloads/                        files that are being fetched
/// updater.lock                      locked during a check for updates
/// updater.json                      the time of the last check, and the state of the source's catalogue
/// updater-copy.json                 a copy of it from the last change of the catalogue
/// ```
struct PackLayout: Sendable {
    let root: String

    init(root: String) { self.root = root.trimmingTrailingSlash }

    var lock: String { root + "/lock" }
    var modules: String { root + "/modules" }
    var staging: String { root + "/staging" }
    var downloads: String { root + "/downloads" }
    var updater: String { root + "/updater.json" }
    var updaterCopy: String { root + "/updater-copy.json" }
    var updaterLock: String { root + "/updater.lock" }

    /// Whether a name in a module's folder may be one that the library made: of a version, or of a new record that has
    /// not been renamed yet.
    static func mayBeOwn(_ name: String) -> Bool {
        if name.hasPrefix(ModuleRecord.fileName + ".") {
            return RandomName.isPossible(String(name.dropFirst(ModuleRecord.fileName.count + 1)))
        }
        let (mark, digits) = (name.dropLast(8).last, name.suffix(8))
        return mark == "-" && digits.utf8.count == 8 && digits.utf8.allSatisfy { $0.hexadecimalDigit != nil }
    }

    /// Whether a name at the root may be that of a new state of the updater that has not been renamed yet.
    static func mayBeUnfinishedState(_ name: String) -> Bool {
        ["updater.json.", "updater-copy.json."].contains { prefix in
            name.hasPrefix(prefix) && RandomName.isPossible(String(name.dropFirst(prefix.count)))
        }
    }

    func module(_ module: ModuleID) -> String { "\(modules)/\(module)" }
    func record(of module: ModuleID) -> String { "\(self.module(module))/\(ModuleRecord.fileName)" }
    func version(_ folder: String, of module: ModuleID) -> String { "\(self.module(module))/\(folder)" }
    func manifest(of module: ModuleID, _ folder: String) -> String { version(folder, of: module) + "/manifest.json" }
    func files(of module: ModuleID, _ folder: String) -> String { version(folder, of: module) + "/files" }
    func archive(of module: ModuleID, _ folder: String) -> String { version(folder, of: module) + "/archive.zip" }
}

/// The environment of a library; tests inject faults and their own clock here.
package struct PackEnvironment: Sendable {
    /// The file system that holds all files.
    package var fileSystem: any FileSystem = LocalFileSystem()
    /// The clock.
    package var now: @Sendable () -> Date = { Date() }
    /// A monotonic clock that cannot be set; only differences between its values are meaningful.
    package var uptime: @Sendable () -> Duration = { ContinuousClock.now - Self.start }

    private static let start = ContinuousClock.now

    /// Makes the environment of a real library.
    package init() {}
}
