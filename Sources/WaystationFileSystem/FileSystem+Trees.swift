package import Foundation

extension FileSystem {
    /// Removes the object at a path, with everything below it; links are removed and not followed.
    package func removeTree(_ path: String) throws {
        guard let status = try status(of: path) else { return }
        guard status.kind == .directory else { return try removeFile(path) }
        for name in try contents(of: path) { try removeTree("\(path)/\(name)") }
        try removeDirectory(path)
    }

    /// Reads a whole file; `nil` when it does not exist.
    ///
    /// A file larger than `limit` throws, so that no unexpectedly large file is read into memory.
    package func readFile(_ path: String, limit: Int) throws -> Data? {
        let file: OpenFile
        do {
            file = try openFile(path)
        } catch let error as FileError where error.code == ENOENT || error.code == ENOTDIR {
            return nil
        }
        let length = try length(of: file)
        guard length <= limit else { throw FileError("read", path, code: EOVERFLOW) }
        return try read(file, at: 0, count: length)
    }

    /// Replaces a file atomically: after a kill or a power cut, either the old or the new file is there.
    package func replaceFile(_ path: String, with data: Data) throws {
        let directory = (path as NSString).deletingLastPathComponent
        let staged = "\(path).\(RandomName.make())"
        do {
            let file = try createFile(staged)
            try write(data, to: file)
            try synchronize(file)
            try rename(staged, to: path)
        } catch {
            try? removeFile(staged)
            throw error
        }
        try synchronizeDirectory(directory)
    }
}
