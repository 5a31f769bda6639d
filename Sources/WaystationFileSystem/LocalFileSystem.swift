package import Foundation

/// The machine's own file system, by POSIX calls.
///
/// Every descriptor is close-on-exec, so that a lock ends with the
/// process that took it and not with the last child it started.
package struct LocalFileSystem: FileSystem {
    /// Makes the file system; it has no state.
    package init() {}

    package func createDirectory(_ path: String) throws {
        if mkdir(path, 0o700) == 0 { return }
        switch errno {
        case EEXIST:
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw FileError("make directory", path, code: ENOTDIR)
            }
        case ENOENT:
            let parent = (path as NSString).deletingLastPathComponent
            guard !parent.isEmpty, parent != path else { throw FileError("make directory", path, code: ENOENT) }
            try createDirectory(parent)
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileError("make directory", path) }
        default:
            throw FileError("make directory", path)
        }
    }

    package func contents(of directory: String) throws -> [String] {
        guard let stream = opendir(directory) else {
            if errno == ENOENT { return [] }
            throw FileError("list", directory)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw FileError("list", directory) }
                return names
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    package func createFile(_ path: String) throws -> OpenFile {
        try opened(path, O_RDWR | O_CREAT | O_EXCL, "create")
    }

    package func openFile(_ path: String) throws -> OpenFile {
        try opened(path, O_RDONLY, "open")
    }

    package func openFileForAppending(_ path: String) throws -> OpenFile {
        try opened(path, O_RDWR | O_APPEND, "open")
    }

    private func opened(
        _ path: String,
        _ flags: Int32,
        _ operation: String,
        isLocked: Bool = false
    ) throws -> OpenFile {
        while true {
            let descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor >= 0 { return OpenFile(descriptor: descriptor, path: path, isLocked: isLocked) }
            if errno != EINTR { throw FileError(operation, path) }
        }
    }

    package func write(_ data: Data, to file: OpenFile) throws {
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let slice = UnsafeRawBufferPointer(rebasing: rest)
                let count = Foundation.write(file.descriptor, slice.baseAddress, slice.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    throw FileError("write", file.path)
                }
                rest = rest.dropFirst(count)
            }
        }
    }

    package func read(_ file: OpenFile, at offset: Int, count: Int) throws -> Data {
        var data = Data(count: count)
        let filled = try data.withUnsafeMutableBytes { bytes in
            var filled = 0
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
                let got = pread(file.descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
                if got < 0 {
                    if errno == EINTR { continue }
                    throw FileError("read", file.path)
                }
                if got == 0 { break }
                filled += got
            }
            return filled
        }
        return filled == count ? data : data.prefix(filled)
    }

    package func length(of file: OpenFile) throws -> Int {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { throw FileError("stat", file.path) }
        return Int(status.st_size)
    }

    package func synchronize(_ file: OpenFile) throws {
        guard fsync(file.descriptor) == 0 else { throw FileError("fsync", file.path) }
    }

    package func rename(_ source: String, to destination: String) throws {
        guard Foundation.rename(source, destination) == 0 else { throw FileError("rename", source) }
    }

    package func removeFile(_ path: String) throws {
        guard unlink(path) == 0 || errno == ENOENT else { throw FileError("remove", path) }
    }

    package func removeDirectory(_ path: String) throws {
        guard rmdir(path) == 0 || errno == ENOENT else { throw FileError("remove directory", path) }
    }

    package func lock(_ path: String) throws -> OpenFile? {
        let file = try opened(path, O_RDWR | O_CREAT, "open", isLocked: true)
        while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return nil }
            if errno != EINTR { throw FileError("lock", path) }
        }
        return file
    }

    package func waitForLock(_ path: String) throws -> OpenFile {
        let file = try opened(path, O_RDWR | O_CREAT, "open", isLocked: true)
        while flock(file.descriptor, LOCK_EX) != 0 {
            if errno != EINTR { throw FileError("lock", path) }
        }
        return file
    }

    package func identity(of path: String) throws -> FileIdentity? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FileError("stat", path)
        }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    package func identity(of file: OpenFile) throws -> FileIdentity {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { throw FileError("stat", file.path) }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    package func synchronizeDirectory(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("open", path) }
        let directory = OpenFile(descriptor: descriptor, path: path)
        guard fsync(directory.descriptor) == 0 else { throw FileError("fsync", path) }
    }

    package func link(_ source: String, as destination: String) throws {
        guard Foundation.link(source, destination) == 0 else { throw FileError("link", destination) }
    }

    package func status(of path: String) throws -> FileStatus? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FileError("stat", path)
        }
        let kind: FileStatus.Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        return FileStatus(
            kind: kind,
            size: Int(status.st_size),
            identity: FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        )
    }

    package func freeSpace(at path: String) throws -> Int {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw FileError("statvfs", path) }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : Int(clamping: bytes)
    }
}
