#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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
