import Foundation
import WaystationStorage

/// Checks of the directories that a cache or a library of packs is to use, and of the disks below them.
///
/// A directory that does not exist is not made: the check looks at the folder in which it would be.
enum DirectoryChecks {
    static func all(_ name: String, _ directory: URL) -> [Finding] {
        let found = self.directory(name, directory)
        return found.state == .failed ? [found] : [found, disk("\(name) disk", directory)]
    }

    /// The checks of the directory for temporary files, where large bodies wait.
    static func temporary() -> [Finding] {
        let directory = FileManager.default.temporaryDirectory
        let name = "temporary files"
        let path = directory.path(percentEncoded: false)
        guard let code = writeError(in: path) else { return [disk(name, directory)] }
        return [
            .failed(name, "\(path) cannot be written: \(text(code))", "set TMPDIR to a directory that can be written")
        ]
    }

    private static func directory(_ name: String, _ directory: URL) -> Finding {
        let path = trimmed(directory)
        let status: PathStatus
        do { status = try PathStatus(of: path) } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else {
                return .failed(name, "\(path): \(text(error.code))", "correct the path")
            }
            return missing(name, directory)
        }
        switch status.kind {
        case .directory: break
        case .symbolicLink:
            return .failed(name, "\(path) is a symbolic link", "name the directory that the symbolic link leads to")
        case .other:
            return .failed(name, "\(path) is a file", "name another directory, or move the file away")
        }
        if status.owner != geteuid() {
            return .failed(
                name,
                "\(path) belongs to the user with the number \(status.owner), not to \(geteuid())",
                "give the directory to the user of the program: `chown`"
            )
        }
        if status.isWritableByOthers {
            return .failed(name, "other users may write to \(path)", "forbid it: `chmod go-w \(path)`")
        }
        if let code = writeError(in: path) {
            return .failed(
                name,
                "\(path) cannot be written: \(text(code))",
                "choose a directory on a disk that can be written, or `chmod u+rwx \(path)`"
            )
        }
        return .fine(name, "\(path) can be used")
    }

    /// The finding for a directory that must be made first.
    private static func missing(_ name: String, _ directory: URL) -> Finding {
        let path = trimmed(directory)
        let parent = existingParent(of: directory)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: parent, isDirectory: &isFolder), isFolder.boolValue else {
            return .failed(name, "\(path) cannot be made: \(parent) is a file", "choose another path")
        }
        if let code = writeError(in: parent) {
            return .failed(
                name,
                "\(path) cannot be made: \(parent) cannot be written: \(text(code))",
                "make the directory for the user of the program, or choose another path"
            )
        }
        return .fine(name, "\(path) does not exist yet and can be made")
    }

    private static func disk(_ name: String, _ directory: URL) -> Finding {
        var status = statvfs()
        guard statvfs(existingParent(of: directory), &status) == 0 else {
            return .failed(name, "the free space of the disk cannot be read: \(text(errno))", "check the disk")
        }
        let (bytes, isTooLarge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return disk(name, free: isTooLarge ? .max : Int(clamping: bytes))
    }

    static func disk(_ name: String, free: Int) -> Finding {
        let detail = "\(Words.bytes(free)) are free"
        return switch free {
        case ..<(64 << 20): .failed(name, detail, "free at least 64 MB: nothing can be stored on a full disk")
        case ..<(512 << 20):
            .warning(name, detail, "free some space: a cache holds 256 MiB unless it has another limit")
        default: .fine(name, detail)
        }
    }

    /// The directory itself or the nearest folder above it that exists.
    private static func existingParent(of directory: URL) -> String {
        var url = directory.absoluteURL.standardizedFileURL
        while !FileManager.default.fileExists(atPath: trimmed(url)), url.pathComponents.count > 1 {
            url.deleteLastPathComponent()
        }
        return trimmed(url)
    }

    /// Makes a file and removes it.
    ///
    /// Asking for permission is not enough: root has it on a disk that cannot be written.
    ///
    /// - Returns: The number of the system's error; nil if there was none.
    private static func writeError(in folder: String) -> CInt? {
        let path = "\(folder)/.waystation-doctor-\(UUID().uuidString)"
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno }
        defer {
            close(descriptor)
            unlink(path)
        }
        return write(descriptor, "x", 1) == 1 ? nil : errno
    }

    /// The path without a slash at its end, which would follow a symbolic link.
    private static func trimmed(_ url: URL) -> String {
        let path = url.absoluteURL.path(percentEncoded: false)
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    private static func text(_ code: CInt) -> String { String(cString: strerror(code)) }
}
