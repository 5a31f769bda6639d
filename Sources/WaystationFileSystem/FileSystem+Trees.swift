package import Foundation

extension FileSystem {
    /// Removes the object at a path, with everything below it; links are removed and not followed.
    package func removeTree(_ path: String) throws {
        guard let status = try status(of: path) else { return }
        guard status.kind == .directory else { return try removeFile(path) }
        for name in try contents(of: path) { try removeTree("\(path)/\(name)") }
        try removeDirectory(path)
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
