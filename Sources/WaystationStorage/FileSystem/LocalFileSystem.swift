package import Foundation

/// The machine's own file system, by POSIX calls.
///
/// Every descriptor is close-on-exec, so that a lock ends with the process that took it and not with the last child it
/// started.
package struct LocalFileSystem: FileSystem {
    /// The directory below which each directory is opened by itself; nil when the system resolves paths.
    private let root: String?

    /// Makes the file system; it has no state.
    package init() { root = nil }

    private init(root: String) { self.root = root }

    package func confined(to root: String) -> any FileSystem {
        if let own = self.root, root == own || root.hasPrefix(own + "/") { return self }
        return LocalFileSystem(root: root)
    }

    /// Opens the directories on the way to a path, if it is at or below the root.
    private func place(of path: String) throws -> Place {
        guard let root, path == root || path.hasPrefix(root + "/") else { return Place(directory: nil, name: path) }
        var directory = try openRoot(root)
        var name = "."
        var walked = root
        for next in path.utf8.dropFirst(root.utf8.count).split(separator: UInt8(ascii: "/")) {
            if name != "." {
                walked += "/\(name)"
                directory = try OwnedDirectory.open(
                    Place(directory: directory, name: name),
                    path: walked,
                    isRoot: false
                )
            }
            name = String(decoding: next, as: UTF8.self)
            guard name != "..", name != "." else { throw FileError("open", path, code: EINVAL) }
        }
        return Place(directory: directory, name: name)
    }

    private func openRoot(_ root: String) throws -> OpenFile {
        try OwnedDirectory.open(Place(directory: nil, name: root), path: root, isRoot: true)
    }

    /// Opens the directories on the way to a path as `place(of:)` does; nil when one is missing.
    private func existingPlace(of path: String) throws -> Place? {
        do {
            return try place(of: path)
        } catch let error as FileError where [ENOENT, ENOTDIR].contains(error.code) {
            return nil
        }
    }

    package func createDirectory(_ path: String) throws {
        guard path != root else { return try createRoot(path) }
        let place: Place
        do {
            place = try self.place(of: path)
        } catch let error as FileError where error.code == ENOENT {
            try createDirectory((path as NSString).deletingLastPathComponent)
            return try createDirectory(path)
        }
        if mkdirat(place.descriptor, place.name, 0o700) == 0 { return }
        switch errno {
        case EEXIST where place.directory != nil:
            _ = try OwnedDirectory.open(place, path: path, isRoot: false)
        case EEXIST:
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw FileError("make directory", path, code: ENOTDIR)
            }
        case ENOENT:
            let parent = (path as NSString).deletingLastPathComponent
            guard !parent.isEmpty, parent != path else { throw FileError("make directory", path, code: ENOENT) }
            try createDirectory(parent)
            guard mkdirat(place.descriptor, place.name, 0o700) == 0 || errno == EEXIST else {
                throw FileError("make directory", path)
            }
        default:
            throw FileError("make directory", path)
        }
    }

    /// Makes the root; links above the root are followed as the system does it.
    private func createRoot(_ root: String) throws {
        do {
            _ = try openRoot(root)
        } catch let error as FileError where error.code == ENOENT {
            try LocalFileSystem().createDirectory(root)
            _ = try openRoot(root)
        }
    }

    package func contents(of directory: String) throws -> [String] {
        guard let place = try existingPlace(of: directory) else { return [] }
        guard place.directory != nil else {
            guard let stream = opendir(directory) else {
                if errno == ENOENT { return [] }
                throw FileError("list", directory)
            }
            return try names(in: stream, directory)
        }
        guard let opened = try openExisting(place, directory) else { return [] }
        return try names(in: opened)
    }

    package func checkDirectories(in directory: String, where isChecked: (String) -> Bool) throws {
        guard let place = try existingPlace(of: directory), place.directory != nil,
            let opened = try openExisting(place, directory)
        else { return }
        for name in try names(in: opened) where isChecked(name) {
            let place = Place(directory: opened, name: name)
            if let status = place.status(), OwnedDirectory.isInOrder(status) { continue }
            // Another process may have removed an empty one since the names were read.
            _ = try openExisting(place, "\(directory)/\(name)")
        }
    }

    /// Opens a directory of a confined file system; nil when it does not exist.
    private func openExisting(_ place: Place, _ path: String) throws -> OpenFile? {
        do {
            return try OwnedDirectory.open(place, path: path, isRoot: false)
        } catch let error as FileError where error.code == ENOENT {
            return nil
        }
    }

    private func names(in directory: OpenFile) throws -> [String] {
        // `closedir` on a stream also closes its descriptor, so the stream gets a duplicate.
        let descriptor = fcntl(directory.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw FileError("list", directory.path) }
        guard let stream = fdopendir(descriptor) else {
            let error = FileError("list", directory.path)
            close(descriptor)
            throw error
        }
        return try names(in: stream, directory.path)
    }

    /// Reads the names of a directory, and closes it.
    private func names(in stream: OpaquePointer, _ path: String) throws -> [String] {
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw FileError("list", path) }
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

    /// Opens an existing regular file below a directory for reading, whoever owns the file and the directory.
    ///
    /// - Parameters:
    ///   - path: The path of the file, relative to the directory. It cannot lead out of the directory: an absolute path,
    ///     a `..` and a symbolic link on the way to the file are errors.
    ///   - directory: The directory; links to it are followed.
    /// - Returns: The open file.
    /// - Throws: ``FileError`` when the file cannot be opened or is not a regular file.
    package func openFile(_ path: String, below directory: String) throws -> OpenFile {
        guard path.utf8.first != UInt8(ascii: "/") else { throw FileError("open", path, code: EINVAL) }
        var place = Place(directory: nil, name: directory)
        var walked = directory
        // The path is split as bytes, as the system does: Swift takes a `/` and a combining character after it for one
        // other character.
        for part in path.utf8.split(separator: UInt8(ascii: "/")) {
            let name = String(decoding: part, as: UTF8.self)
            guard name != ".." else { throw FileError("open", path, code: EINVAL) }
            let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (place.directory == nil ? 0 : O_NOFOLLOW)
            let descriptor = openat(place.descriptor, place.name, flags)
            guard descriptor >= 0 else {
                let code = errno
                if place.directory != nil, place.isLink { throw FileError.link(walked) }
                throw FileError("open", walked, code: code)
            }
            place = Place(directory: OpenFile(descriptor: descriptor, path: walked), name: name)
            walked += "/" + name
        }
        return try opened(place, walked, O_RDONLY, "open")
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
        try opened(place(of: path), path, flags, operation, isLocked: isLocked)
    }

    private func opened(
        _ place: Place,
        _ path: String,
        _ flags: Int32,
        _ operation: String,
        isLocked: Bool = false
    ) throws -> OpenFile {
        // Without `O_NONBLOCK`, opening a FIFO would wait until another process opens its other end.
        let flags = flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        var descriptor: Int32
        repeat {
            descriptor = openat(place.descriptor, place.name, flags, 0o600)
        } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else {
            let code = errno
            // `ENXIO` is the error for a FIFO or a socket with no process at its other end.
            if code == ENXIO { throw FileError.notRegular(path) }
            throw code == ELOOP && place.isLink ? FileError.link(path) : FileError(operation, path, code: code)
        }
        let file = OpenFile(descriptor: descriptor, path: path, isLocked: isLocked)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError("stat", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError.notRegular(path) }
        // Another user could hold the lock for an unlimited time.
        if isLocked, place.directory != nil { try OwnedDirectory.checkOwner(status, path) }
        return file
    }

    package func makePrivate(_ path: String) throws {
        guard let place = try existingPlace(of: path) else { return }
        guard let status = place.status() else {
            if errno == ENOENT { return }
            throw FileError("stat", path)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: throw FileError.link(path)
        default: throw FileError.notRegular(path)
        }
        try OwnedDirectory.checkOwner(status, path)
        guard status.st_mode & Mode.notOwner != 0 else { return }
        // The mode is changed without a descriptor: closing one drops the locks that SQLite holds on the file in this
        // process.
        guard fchmodat(place.descriptor, place.name, status.st_mode & Mode.ownerOnly, 0) == 0 else {
            throw FileError("chmod", path)
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
        let filled = try data.withUnsafeMutableBytes { try file.read(at: offset, into: $0) }
        return filled == count ? data : data.prefix(filled)
    }

    package func length(of file: OpenFile) throws -> Int {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { throw FileError("stat", file.path) }
        return Int(status.st_size)
    }

    package func truncate(_ file: OpenFile, to length: Int) throws {
        guard ftruncate(file.descriptor, off_t(length)) == 0 else { throw FileError("truncate", file.path) }
    }

    package func synchronize(_ file: OpenFile) throws {
        guard fsync(file.descriptor) == 0 else { throw FileError("fsync", file.path) }
    }

    package func rename(_ source: String, to destination: String) throws {
        let (old, new) = (try place(of: source), try place(of: destination))
        guard renameat(old.descriptor, old.name, new.descriptor, new.name) == 0 else {
            throw FileError("rename", source)
        }
    }

    package func removeFile(_ path: String) throws {
        guard let place = try existingPlace(of: path) else { return }
        guard unlinkat(place.descriptor, place.name, 0) == 0 || errno == ENOENT else { throw FileError("remove", path) }
    }

    package func removeDirectory(_ path: String) throws {
        guard let place = try existingPlace(of: path) else { return }
        guard unlinkat(place.descriptor, place.name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
            throw FileError("remove directory", path)
        }
    }

    package func lock(_ path: String) throws -> OpenFile? {
        let file = try opened(path, O_RDWR | O_CREAT, "open", isLocked: true)
        while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return nil }
            if errno != EINTR { throw FileError("lock", path) }
        }
        return file
    }

    package func openLockFile(_ path: String) throws -> OpenFile { try opened(path, O_RDWR | O_CREAT, "open") }

    package func lock(_ file: OpenFile, byte: UInt64) throws -> Bool { try setLock(F_WRLCK, file, byte) }

    package func unlock(_ file: OpenFile, byte: UInt64) throws { _ = try setLock(F_UNLCK, file, byte) }

    /// Changes the lock of an open file on a byte.
    ///
    /// The lock belongs to the open file and not to the process, so that two stores of a process exclude each other, and
    /// closing another descriptor of the same file does not end it.
    private func setLock(_ type: Int32, _ file: OpenFile, _ byte: UInt64) throws -> Bool {
        var range = flock()
        range.l_type = Int16(type)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = off_t(clamping: byte)
        range.l_len = 1
        while fcntl(file.descriptor, Self.setOpenFileLock, &range) != 0 {
            if errno == EAGAIN || errno == EACCES { return false }
            if errno != EINTR { throw FileError("lock", file.path) }
        }
        return true
    }

    /// `F_OFD_SETLK`, which the headers of the C library hide from Swift.
    private static let setOpenFileLock: Int32 = 37

    package func waitForLock(_ path: String) throws -> OpenFile {
        let file = try opened(path, O_RDWR | O_CREAT, "open", isLocked: true)
        while flock(file.descriptor, LOCK_EX) != 0 {
            if errno != EINTR { throw FileError("lock", path) }
        }
        return file
    }

    package func identity(of path: String) throws -> FileIdentity? {
        guard let place = try existingPlace(of: path) else { return nil }
        var status = stat()
        let flags = place.directory == nil ? 0 : AT_SYMLINK_NOFOLLOW
        guard fstatat(place.descriptor, place.name, &status, flags) == 0 else {
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
        let place = try place(of: path)
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (place.directory == nil ? 0 : O_NOFOLLOW)
        let descriptor = openat(place.descriptor, place.name, flags)
        guard descriptor >= 0 else { throw FileError("open", path) }
        let directory = OpenFile(descriptor: descriptor, path: path)
        guard fsync(directory.descriptor) == 0 else { throw FileError("fsync", path) }
    }

    package func link(_ source: String, as destination: String) throws {
        let (old, new) = (try place(of: source), try place(of: destination))
        guard linkat(old.descriptor, old.name, new.descriptor, new.name, 0) == 0 else {
            throw FileError("link", destination)
        }
    }

    package func status(of path: String) throws -> FileStatus? {
        guard let place = try existingPlace(of: path) else { return nil }
        guard let status = place.status() else {
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
            identity: FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)),
            links: Int(status.st_nlink)
        )
    }

    package func freeSpace(at path: String) throws -> Int {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw FileError("statvfs", path) }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : Int(clamping: bytes)
    }
}
