package import Foundation
import WaystationHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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
