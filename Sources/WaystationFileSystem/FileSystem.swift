package import Foundation

/// The file operations of stores and pack libraries, as a protocol: tests inject faults by wrapping
/// ``LocalFileSystem``.
///
/// SQLite reads and writes its own files itself and does not use this protocol. Every operation throws ``FileError``.
/// Files are made with mode 0600 and directories with 0700.
package protocol FileSystem: Sendable {
    /// The same file system, restricted for the owner of a directory.
    ///
    /// `root` and everything below it are opened name by name, never through a symbolic link. Each directory on the way
    /// must belong to the process's effective user, and the root must not be writable by all users or shared by a
    /// group on purpose (set-group-ID): otherwise an operation throws ``FileError`` and does nothing. In all other cases
    /// other users' write permission is removed from the directories. Links above the root, and in paths outside it,
    /// are followed as usual.
    func confined(to root: String) -> any FileSystem
    /// Makes a directory and its missing parents; does nothing if the directory exists.
    func createDirectory(_ path: String) throws
    /// The names in a directory, without `.` and `..`, in no particular order; empty when the directory does not exist.
    func contents(of directory: String) throws -> [String]
    /// Makes a file that must not exist yet, and opens it for writing.
    func createFile(_ path: String) throws -> OpenFile
    /// Opens an existing regular file for reading; throws for a FIFO or a device without waiting.
    func openFile(_ path: String) throws -> OpenFile
    /// Opens an existing regular file for reading, and for appending.
    func openFileForAppending(_ path: String) throws -> OpenFile
    /// Removes access to a file for everyone but its owner, without opening it; does nothing if the file is missing.
    ///
    /// Throws if the path names a link or another object that is not a regular file, or a file of another user.
    func makePrivate(_ path: String) throws
    /// Appends all bytes.
    func write(_ data: Data, to file: OpenFile) throws
    /// Reads up to `count` bytes at an offset; returns fewer only at the end of the file.
    func read(_ file: OpenFile, at offset: Int, count: Int) throws -> Data
    /// The length of an open file.
    func length(of file: OpenFile) throws -> Int
    /// Returns when the bytes are on the storage medium.
    func synchronize(_ file: OpenFile) throws
    /// Renames within the file system; replaces an existing destination.
    func rename(_ source: String, to destination: String) throws
    /// Removes a file; does nothing if it does not exist.
    func removeFile(_ path: String) throws
    /// Removes an empty directory; does nothing if it does not exist.
    func removeDirectory(_ path: String) throws
    /// Takes an exclusive lock on a file, which is made if missing, until the returned file closes or its process ends.
    ///
    /// - Returns: `nil` at once when another holder has the lock.
    func lock(_ path: String) throws -> OpenFile?
    /// Takes an exclusive lock as ``lock(_:)`` does, but waits until its holder releases it.
    func waitForLock(_ path: String) throws -> OpenFile
    /// The identity that distinguishes the file at a path from every other file; `nil` when there is no file.
    func identity(of path: String) throws -> FileIdentity?
    /// The identity that distinguishes an open file from every other file.
    func identity(of file: OpenFile) throws -> FileIdentity
    /// Returns when the names in a directory are on the storage medium.
    func synchronizeDirectory(_ path: String) throws
    /// Gives a file a second name, which must not exist yet.
    ///
    /// If the file system cannot do that (another device, too many links), it throws with `EXDEV`, `EMLINK`, `EPERM` or
    /// `ENOTSUP`: then copy the file.
    func link(_ source: String, as destination: String) throws
    /// The status of the object at a path, without following links; `nil` when nothing exists there.
    func status(of path: String) throws -> FileStatus?
    /// The number of bytes that may still be written to the file system of a path.
    func freeSpace(at path: String) throws -> Int
}
