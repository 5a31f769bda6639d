import Foundation
import WaystationFileSystem

/// Files and directories that a file server of another user can read; all others belong to their owner alone.
extension FileSystem {
    /// Makes a directory and those above it, readable by everybody; one that exists already stays as it is.
    func createPublicDirectory(_ path: String) throws {
        guard try status(of: path) == nil else { return try createDirectory(path) }
        let parent = (path as NSString).deletingLastPathComponent
        if !parent.isEmpty, parent != path { try createPublicDirectory(parent) }
        try createDirectory(path)
        try setMode(0o755, of: path)
    }

    /// Makes a file with these bytes, readable by everybody and on the medium.
    func createPublicFile(_ path: String, _ data: Data) throws {
        let file = try createFile(path)
        try write(data, to: file)
        try setMode(0o644, of: path)
        try synchronize(file)
    }

    /// Puts a file in the place of another at once, readable by everybody.
    func replacePublicFile(_ path: String, with data: Data) throws {
        let staged = "\(path).\(RandomName.make())"
        do {
            try createPublicFile(staged, data)
            try rename(staged, to: path)
        } catch {
            try? removeFile(staged)
            throw error
        }
        try synchronizeDirectory((path as NSString).deletingLastPathComponent)
    }

    private func setMode(_ mode: mode_t, of path: String) throws {
        guard chmod(path, mode) == 0 else { throw FileError("chmod", path) }
    }
}
