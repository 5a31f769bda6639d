package import Foundation

/// The file operations that stores and pack libraries need, as a seam: tests inject faults by wrapping ``LocalFileSystem``.
///
/// SQLite reads and writes its own files itself and does not come through here.
/// Every operation throws ``FileError``. Files are made with mode 0600 and directories with 0700.
package protocol FileSystem: Sendable {
    /// The same file system for the owner of a directory: `root` and everything below it is reached name by name, never
    /// through a symbolic link.
    ///
    /// Each directory on the way must belong to the process's effective user; the root must not be writable by others.
    /// What others may write to below the root is closed to them. An operation where that does not hold throws
    /// ``FileError`` and does nothing. What is above the root, and paths outside it, are followed as ever.
    func confined(to root: String) -> any FileSystem
    /// Makes a directory and those above it; one that exists already is fine.
    func createDirectory(_ path: String) throws
    /// The names in a directory, without `.` and `..`, in no order; none when the directory does not exist.
    func contents(of directory: String) throws -> [String]
    /// Makes a file that must not exist yet, open for writing.
    func createFile(_ path: String) throws -> OpenFile
    /// Opens an existing regular file for reading; a FIFO or a device throws at once.
    func openFile(_ path: String) throws -> OpenFile
    /// Opens an existing regular file for reading, and for writing behind its last byte.
    func openFileForAppending(_ path: String) throws -> OpenFile
    /// Takes access to a file from everyone but its owner, without opening it; a missing file is fine.
    ///
    /// Throws where the path names a link or anything else that is not a regular file, or a file of another user.
    func makePrivate(_ path: String) throws
    /// Appends all the bytes.
    func write(_ data: Data, to file: OpenFile) throws
    /// Reads up to `count` bytes at an offset; fewer only at the end of the file.
    func read(_ file: OpenFile, at offset: Int, count: Int) throws -> Data
    /// The length of an open file.
    func length(of file: OpenFile) throws -> Int
    /// Returns when the bytes are on the medium.
    func synchronize(_ file: OpenFile) throws
    /// Renames within the file system; what was at the destination is replaced.
    func rename(_ source: String, to destination: String) throws
    /// Removes a file; one that does not exist is fine.
    func removeFile(_ path: String) throws
    /// Removes an empty directory; one that does not exist is fine.
    func removeDirectory(_ path: String) throws
    /// Takes an exclusive lock on a file, made when missing, until the returned file closes or its process ends.
    ///
    /// - Returns: `nil` at once when another holder has it.
    func lock(_ path: String) throws -> OpenFile?
    /// Takes an exclusive lock as ``lock(_:)`` does, waiting for whoever holds it.
    func waitForLock(_ path: String) throws -> OpenFile
    /// What tells the file at a path from any other that was or will be there; `nil` when there is none.
    func identity(of path: String) throws -> FileIdentity?
    /// What tells an open file from any other.
    func identity(of file: OpenFile) throws -> FileIdentity
    /// Returns when the names in a directory are on the medium.
    func synchronizeDirectory(_ path: String) throws
    /// Gives a file a second name, which must not exist yet.
    ///
    /// Where the file system cannot do that (another device, too many links), it throws with `EXDEV`, `EMLINK`, `EPERM`
    /// or `ENOTSUP`: copy then.
    func link(_ source: String, as destination: String) throws
    /// What stands at a path, links not followed; `nil` when nothing does.
    func status(of path: String) throws -> FileStatus?
    /// How many bytes may still be written to the file system that a path lies on.
    func freeSpace(at path: String) throws -> Int
}
