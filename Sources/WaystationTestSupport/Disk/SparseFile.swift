public import Foundation

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
