import Foundation
import WaystationFileSystem

/// The paths of a store's files.
///
/// ```
/// index.sqlite (-wal, -shm)     index and small bodies
/// index.sqlite.damaged-1        the last index that had to be replaced
/// recovery.lock                 held while an index is replaced
/// bodies/4f/4f0c9d8e5b7a4321…   large bodies, complete, named by their SHA-256
/// staging/9be1…/                what one running process is writing; its file `lock` is locked while it runs
/// ```
struct StoreLayout: Sendable {
    let root: String
    /// The URL from which the root was taken; nil if it was given as a path.
    private let directory: URL?

    init(root: String) { (self.root, directory) = (root, nil) }

    init(directory: URL) {
        root = directory.standardizedFileURL.path(percentEncoded: false).trimmingTrailingSlash
        self.directory = directory
    }

    /// The beginning of the names of damaged indices.
    static let setAside = "index.sqlite.damaged-"

    var index: String { root + "/index.sqlite" }
    var recoveryLock: String { root + "/recovery.lock" }
    var bodies: String { root + "/bodies" }
    var staging: String { root + "/staging" }

    /// Makes the directories that are missing and checks those that exist: the root must have a file URL, the directories
    /// and the index must not be links, must belong to this process's user, and must not be writable by other users.
    ///
    /// Removes other users' access to the index and to the directories below the root. Opens only directories.
    /// - Parameter fileSystem: One that is confined to the root.
    /// - Throws: `FileError`, which reports what was found and what to do.
    func claim(_ fileSystem: any FileSystem) throws {
        try directory?.checkIsFile(for: "mkdir")
        for path in [root, bodies, staging] { try fileSystem.createDirectory(path) }
        try fileSystem.checkDirectories(in: bodies, where: BodyName.isShard)
        for suffix in ["", "-wal", "-shm", "-journal"] { try fileSystem.makePrivate(index + suffix) }
    }

    /// The path of a body file that the index names.
    ///
    /// - Returns: `nil` for any name that this store would not have assigned, since such a name may point anywhere.
    func body(_ name: String) -> String? { BodyName(name).map(path(of:)) }

    func path(of body: BodyName) -> String { "\(bodies)/\(body.text)" }

    func directory(of body: BodyName) -> String { "\(bodies)/\(body.shard)" }
}
