import Foundation
import WaystationStorage

/// Files and directories that a file server of another user can read; all others are readable by their owner only.
extension FileSystem {
    /// Creates a directory and its parents, readable by everybody; directories that exist already are not changed.
    func createPublicDirectory(_ path: String) throws {
        guard try status(of: path) == nil else { return try createDirectory(path) }
        let parent = (path as NSString).deletingLastPathComponent
        if !parent.isEmpty, parent != path { try createPublicDirectory(parent) }
        try createDirectory(path)
        try setMode(0o755, of: path)
    }

    /// Creates a file with these bytes, readable by everybody, and synchronises it to the disk.
    func createPublicFile(_ path: String, _ data: Data) throws {
        let file = try createFile(path)
        try write(data, to: file)
        try setMode(0o644, of: path)
        try synchronize(file)
    }

    /// Replaces a file atomically; the new one is readable by everybody.
    func replacePublicFile(_ path: String, with data: Data) throws {
        try replaceFile(path) { try createPublicFile($0, data) }
    }

    private func setMode(_ mode: mode_t, of path: String) throws {
        guard chmod(path, mode) == 0 else { throw FileError("chmod", path) }
    }
}
