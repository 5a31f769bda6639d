package import Foundation
public import WaystationHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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
    /// Checks the directories in a confined directory, as each operation below them does.
    ///
    /// It opens the way to them once, and only those that must be changed.
    ///
    /// - Parameters:
    ///   - directory: The directory that contains them.
    ///   - isChecked: Whether the object with a name is one of them.
    /// - Throws: ``FileError``, which reports what was found.
    func checkDirectories(in directory: String, where isChecked: (String) -> Bool) throws
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
    /// Removes all bytes of a file that is open for appending from an offset on.
    func truncate(_ file: OpenFile, to length: Int) throws
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
    /// Opens a file for locks of single bytes; the file is made if missing.
    func openLockFile(_ path: String) throws -> OpenFile
    /// Takes an exclusive lock on one byte of an open file, until ``unlock(_:byte:)``, or until the file closes or its
    /// process ends.
    ///
    /// Locks of different bytes are independent of each other, and the file need not have the byte. The open file is the
    /// holder: it may take a lock that it has once more.
    ///
    /// - Parameters:
    ///   - file: The file, which was opened by ``openLockFile(_:)``.
    ///   - byte: The place of the byte, below 2^63.
    /// - Returns: False at once when another open file has the lock.
    /// - Throws: ``FileError`` when the file cannot be locked.
    func lock(_ file: OpenFile, byte: UInt64) throws -> Bool
    /// Releases the lock on a byte.
    func unlock(_ file: OpenFile, byte: UInt64) throws
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
        try replaceFile(path) { staged in
            let file = try createFile(staged)
            try write(data, to: file)
            try synchronize(file)
        }
    }

    /// Replaces a file atomically.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - create: Creates the new file at another path, and synchronises it to the disk.
    /// - Throws: The error of the step that failed; the old file is still there.
    package func replaceFile(_ path: String, byFileOf create: (String) throws -> Void) throws {
        let directory = (path as NSString).deletingLastPathComponent
        let staged = "\(path).\(RandomName.make())"
        do {
            try create(staged)
            try rename(staged, to: path)
        } catch {
            try? removeFile(staged)
            throw error
        }
        try synchronizeDirectory(directory)
    }
}

/// A file descriptor that is closed when its last owner releases it.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    package let path: String

    private let isLocked: Bool

    /// Takes ownership of an open descriptor, and of the lock that it may hold.
    package init(descriptor: Int32, path: String, isLocked: Bool = false) {
        self.descriptor = descriptor
        self.path = path
        self.isLocked = isLocked
    }

    deinit {
        // Closing alone is not enough: a child process that is being started also has the descriptor until it executes
        // its program, and would keep the lock for that time.
        if isLocked { flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

    /// Fills a buffer with the bytes from an offset on.
    ///
    /// - Returns: The number of bytes read: the buffer's count, or fewer if the file ends before that.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let got = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
            if got < 0 {
                if errno == EINTR { continue }
                throw FileError("read", path)
            }
            if got == 0 { break }
            filled += got
        }
        return filled
    }
}

/// The kind, the owner and the permissions of a path; a symbolic link is not followed.
package struct PathStatus: Sendable {
    package enum Kind: Sendable {
        case directory, symbolicLink, other
    }

    package let kind: Kind
    /// The number of the user to whom the path belongs.
    package let owner: UInt32
    /// Whether other users than the owner may write to it.
    package let isWritableByOthers: Bool

    /// Reads the status of a path.
    ///
    /// - Throws: `FileError` with the number of the system's error.
    package init(of path: String) throws(FileError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw FileError("stat", path) }
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        owner = status.st_uid
        isWritableByOthers = status.st_mode & Mode.writableByOthers != 0
    }
}

/// The device and the inode of a file.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// The file, directory or other object at a path.
package struct FileStatus: Hashable, Sendable {
    /// The kinds of objects at a path.
    package enum Kind: Hashable, Sendable { case file, directory, symbolicLink, other }

    package let kind: Kind
    package let size: Int
    package let identity: FileIdentity
    /// The number of names that a file has.
    package let links: Int

    package init(kind: Kind, size: Int, identity: FileIdentity, links: Int = 1) {
        self.kind = kind
        self.size = size
        self.identity = identity
        self.links = links
    }
}

/// A file operation that failed.
public struct FileError: CodedError {
    /// The operation that failed, such as `open`.
    public let operation: String
    /// The path of the operation.
    public let path: String
    /// The system's `errno`.
    public let code: Int32

    /// The reason and what to do, if the system's text for ``code`` does not say it.
    private let reason: String?

    package init(_ operation: String, _ path: String, code: Int32 = errno, because reason: String? = nil) {
        self.operation = operation
        self.path = path
        self.code = code
        self.reason = reason
    }

    /// Whether space ran out: the disk, the quota or the file size limit is exhausted.
    package var isFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    /// Whether the process lacks descriptors, memory or permission: the error then says nothing about the state of the
    /// file.
    package var isCausedByProcess: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS, EACCES, EPERM, EAGAIN].contains(code) }

    /// The operation, the path and the reason.
    public var message: String {
        "\(operation) \(path.shown(upTo: 4_096)): \(reason ?? String(cString: strerror(code)))"
    }

    /// The message, which says what ``code`` means.
    public var description: String { message }
}

/// A name in an open directory, in the form that the system's `…at` calls take.
struct Place {
    /// The directory that contains the name; nil when the name is a complete path.
    let directory: OpenFile?
    let name: String

    var descriptor: Int32 { directory?.descriptor ?? AT_FDCWD }

    /// The status of the object at this place, without following a link.
    ///
    /// - Returns: nil, with the reason in `errno`, when the system call fails.
    func status() -> stat? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Whether the object at this place is a symbolic link.
    var isLink: Bool { status().map { $0.st_mode & S_IFMT == S_IFLNK } ?? false }
}

/// A directory that this process's user owns, opened without following a link.
enum OwnedDirectory {
    /// Opens a directory and checks its owner and its mode.
    ///
    /// - Parameters:
    ///   - place: The directory's place.
    ///   - path: The directory's path, for errors.
    ///   - isRoot: Whether an app chose the directory. Such a directory is refused if all users may write to it, or a
    ///     group that shares it on purpose: others may have put something into it, or may be meant to use it. In all
    ///     other cases the write permission of other users is removed.
    /// - Returns: The directory, for the system's `…at` calls.
    /// - Throws: ``FileError``, which reports what was found.
    static func open(_ place: Place, path: String, isRoot: Bool) throws -> OpenFile {
        var descriptor: Int32
        repeat {
            descriptor = openat(place.descriptor, place.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else {
            let code = errno
            // With `O_DIRECTORY` the system reports a link as something that is not a directory.
            guard [ENOTDIR, ELOOP].contains(code), place.isLink else { throw FileError("open", path, code: code) }
            throw FileError.link(path)
        }
        let directory = OpenFile(descriptor: descriptor, path: path)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError("stat", path) }
        try checkOwner(status, path)
        guard status.st_mode & Mode.writableByOthers != 0 else { return directory }
        if isRoot, status.st_mode & (Mode.writableByAll | Mode.setGroup) != 0 {
            throw FileError(
                "open",
                path,
                code: EPERM,
                because: "other users may write to this directory: check its contents, then run chmod 700"
            )
        }
        guard fchmod(descriptor, status.st_mode & Mode.all & ~Mode.writableByOthers) == 0 else {
            throw FileError("chmod", path)
        }
        return directory
    }

    /// Whether an object is a directory that ``open(_:path:isRoot:)`` leaves as it is.
    static func isInOrder(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid() && status.st_mode & Mode.writableByOthers == 0
    }

    static func checkOwner(_ status: stat, _ path: String) throws {
        guard status.st_uid != geteuid() else { return }
        throw FileError(
            "open",
            path,
            code: EPERM,
            because: "it belongs to user \(status.st_uid) and this process runs as user \(geteuid())"
        )
    }
}

/// Bits of a file's mode.
enum Mode {
    static var all: mode_t { 0o7777 }
    static var ownerOnly: mode_t { 0o7700 }
    static var notOwner: mode_t { 0o077 }
    static var writableByOthers: mode_t { 0o022 }
    static var writableByAll: mode_t { 0o002 }
    /// The set-group-ID bit: a directory with it is shared by a group on purpose.
    static var setGroup: mode_t { 0o2000 }
}

extension FileError {
    static func link(_ path: String) -> FileError {
        FileError(
            "open",
            path,
            code: ELOOP,
            because: "it is a symbolic link, which is not followed"
        )
    }

    static func notRegular(_ path: String) -> FileError {
        FileError("open", path, code: EINVAL, because: "it is not a regular file")
    }
}

extension String {
    /// The path without the slash at its end; the root directory keeps its own.
    package var trimmingTrailingSlash: String { count > 1 && hasSuffix("/") ? String(dropLast()) : self }
}

extension URL {
    /// The URL for the message of an error, without user, password, query and fragment, which may be secret.
    package var shown: String { absoluteString.shownURL }

    /// The problem of a URL that should name a file or a folder, in the words of a message; nil for a file URL.
    ///
    /// Other URLs have paths too, so that files would be made there.
    package var fileURLProblem: String? {
        isFileURL ? nil : "\(shown) is not a file URL: give it as URL(filePath:)"
    }

    /// Refuses a URL that is not a file URL.
    ///
    /// - Parameter operation: The operation on a file that the URL is for, such as `create`.
    /// - Throws: `FileError` if this is not a file URL.
    package func checkIsFile(for operation: String) throws(FileError) {
        guard isFileURL else {
            throw FileError(operation, shown, code: EINVAL, because: "it is not a file URL: give it as URL(filePath:)")
        }
    }
}
