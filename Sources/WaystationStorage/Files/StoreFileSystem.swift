package import Foundation

/// The file operations a store needs, as a seam: tests inject faults by wrapping ``LocalFileSystem``.
///
/// SQLite reads and writes its own files itself and does not come through here.
/// Every operation throws ``FileError``. Files are made with mode 0600 and directories with 0700.
package protocol StoreFileSystem: Sendable {
    /// Makes a directory and those above it; one that exists already is fine.
    func createDirectory(_ path: String) throws
    /// The names in a directory, without `.` and `..`, in no order; none when the directory does not exist.
    func contents(of directory: String) throws -> [String]
    /// Makes a file that must not exist yet, open for writing.
    func createFile(_ path: String) throws -> OpenFile
    /// Opens an existing file for reading.
    func openFile(_ path: String) throws -> OpenFile
    /// Appends all the bytes.
    func write(_ data: Data, to file: OpenFile) throws
    /// Reads up to `count` bytes at an offset; fewer only at the end of the file.
    func read(_ file: OpenFile, at offset: Int, count: Int) throws -> Data
    /// The length of an open file.
    func length(of file: OpenFile) throws -> Int
    /// Returns when the bytes are on the medium.
    func synchronize(_ file: OpenFile) throws
    /// Renames within the store; what was at the destination is replaced.
    func rename(_ source: String, to destination: String) throws
    /// Removes a file; one that does not exist is fine.
    func removeFile(_ path: String) throws
    /// Removes an empty directory; one that does not exist is fine.
    func removeDirectory(_ path: String) throws
    /// Takes an exclusive lock on a file, made when missing, until the returned file closes or its process ends.
    ///
    /// - Returns: `nil` at once when another holder has it.
    func lock(_ path: String) throws -> OpenFile?
    /// What tells the file at a path from any other that was or will be there; `nil` when there is none.
    func identity(of path: String) throws -> FileIdentity?
    /// What tells an open file from any other.
    func identity(of file: OpenFile) throws -> FileIdentity
}

/// Device and inode of a file.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
}

/// A file descriptor that closes with its last owner.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    package let path: String

    /// Takes ownership of an open descriptor.
    package init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }
}

/// A file operation that failed.
package struct FileError: Error, CustomStringConvertible {
    package let operation: String
    package let path: String
    package let code: Int32

    package init(_ operation: String, _ path: String, code: Int32 = errno) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// Whether there is no room: the disk, the quota or the file size limit is exhausted.
    package var isFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    package var description: String {
        "\(operation) \(path): \(String(cString: strerror(code)))"
    }
}
