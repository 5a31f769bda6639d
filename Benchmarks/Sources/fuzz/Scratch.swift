import Foundation

/// A folder in which only one target below a few others may be written; files outside the target are found.
struct Scratch: Sendable {
    private let root: URL
    /// The depth is enough for a path with a few `..` to stay inside the folder, where the file is found.
    private static let depth = 4

    init() throws {
        root = FileManager.default.temporaryDirectory.appending(path: "fuzz-\(UUID().uuidString)")
        try clear()
    }

    var target: URL { parent.appending(path: "target") }

    private var parent: URL { (0..<Self.depth).reduce(root) { folder, _ in folder.appending(path: "d") } }

    /// Every file below the target, by its path.
    ///
    /// - Throws: ``Finding`` for anything outside the target, and for anything that is neither a file nor a folder.
    func files() throws -> [String: Data] {
        let prefix = target.path + "/"
        let folders = Set(
            (0...Self.depth).map { depth in (0..<depth).reduce(root) { url, _ in url.appending(path: "d") }.path }
        )
        var found: [String: Data] = [:]
        var waiting = [root.path]
        while let folder = waiting.popLast() {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let path = folder + "/" + name
                let isInside = path.hasPrefix(prefix) || path == target.path
                try Finding.unless(isInside || folders.contains(path), "\(path) is outside the target")
                var status = stat()
                guard lstat(path, &status) == 0 else { throw Finding("\(path) no longer exists") }
                switch status.st_mode & S_IFMT {
                case S_IFDIR: waiting.append(path)
                case S_IFREG:
                    found[String(path.dropFirst(prefix.count))] = try Data(contentsOf: URL(fileURLWithPath: path))
                default: throw Finding("\(path) is neither a file nor a folder")
                }
            }
        }
        return found
    }

    /// Empties the folder.
    func clear() throws {
        try? FileManager.default.removeItem(at: root)
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    }
}
