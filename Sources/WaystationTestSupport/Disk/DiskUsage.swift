import Foundation

/// Measures what a directory takes on disk, as `du` does.
public enum DiskUsage {
    /// The allocated blocks of a path and of everything below it, in bytes; what vanishes meanwhile counts nothing.
    ///
    /// A file that is moved meanwhile counts once.
    public static func bytes(of path: String) -> Int {
        var counted: Set<ino_t> = []
        return bytes(of: path, notIn: &counted)
    }

    private static func bytes(of path: String, notIn counted: inout Set<ino_t>) -> Int {
        var status = stat()
        guard lstat(path, &status) == 0, counted.insert(status.st_ino).inserted else { return 0 }
        var size = Int(status.st_blocks) * 512
        guard status.st_mode & S_IFMT == S_IFDIR, let stream = opendir(path) else { return size }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { size += bytes(of: "\(path)/\(name)", notIn: &counted) }
        }
        return size
    }
}
