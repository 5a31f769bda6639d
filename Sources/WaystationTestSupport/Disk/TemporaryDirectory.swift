public import Foundation

/// A directory that is deleted with the last reference to it.
public final class TemporaryDirectory: Sendable {
    /// The directory.
    public let url: URL

    /// Makes an empty directory.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "waystation-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Writes a file, and makes the folders above it.
    @discardableResult
    public func write(_ text: String, to path: String) throws -> URL {
        try write(Data(text.utf8), to: path)
    }

    /// Writes a file, and makes the folders above it.
    @discardableResult
    public func write(_ data: Data, to path: String) throws -> URL {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
        return file
    }

    /// The names of its entries, sorted.
    public var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false)).sorted() }
    }
}

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

/// A file of zeros that takes no space on the disk, and more memory than a machine has if a program reads it whole.
public enum SparseFile {
    /// Makes the file, in place of another one.
    ///
    /// - Parameters:
    ///   - url: The place of the file.
    ///   - size: Its size in bytes; 64 GiB by default.
    /// - Throws: The error of the disk.
    public static func make(at url: URL, size: UInt64 = 64 << 30) throws {
        try Data().write(to: url)
        let handle = try FileHandle(forWritingTo: url)
        defer { try? handle.close() }
        try handle.truncate(atOffset: size)
    }
}
