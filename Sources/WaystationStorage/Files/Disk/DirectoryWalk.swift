import Foundation

/// The object at a path, or the reason why it is not served.
enum Located {
    case file(StampedFile)
    case directory(OpenFile)
    case missing
    case refused(PathRefusal.Code)
    case failed(OfflineDirectoryError)
}

extension OpenFile {
    /// Opens the root of an offline directory.
    convenience init(openingRoot root: URL) throws(OfflineDirectoryError) {
        guard root.isFileURL else {
            throw OfflineDirectoryError(
                code: .notADirectory,
                message: "'\(root)' is not a file URL; give the directory as URL(filePath:)",
                errorNumber: nil
            )
        }
        let path = root.path(percentEncoded: false)
        // The system would cut the path at a NUL byte and open another directory.
        let number = path.utf8.contains(0) ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number < 0 else {
            self.init(descriptor: number, path: path)
            return
        }
        switch path.utf8.contains(0) ? ENOENT : errno {
        case ENOENT:
            throw OfflineDirectoryError(
                code: .missing,
                message: "there is no directory '\(path)'; create it, or give the directory that holds the files",
                errorNumber: ENOENT
            )
        case ENOTDIR:
            throw OfflineDirectoryError(
                code: .notADirectory,
                message: "'\(path)' is not a directory; give the directory that holds the files",
                errorNumber: ENOTDIR
            )
        case let number: throw .unreadable(path, errorNumber: number)
        }
    }

    /// Walks from this directory through names; opens each one in the directory before it and never follows a link.
    func locate(_ names: some Collection<String>) -> Located {
        var located = Located.directory(self)
        var path = ""
        for name in names {
            switch located {
            case .directory(let directory):
                path += path.isEmpty ? name : "/\(name)"
                located = directory.entry(name, path: path)
            // Nothing can be below a file.
            case .file: return .missing
            case .missing, .refused, .failed: return located
            }
        }
        return located
    }

    /// Opens the object that a name refers to in this directory.
    ///
    /// The object is checked before it is opened, since opening a FIFO or a device can block or have side effects. It
    /// is checked again afterwards, since it may have been replaced in between.
    private func entry(_ name: String, path: String) -> Located {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .unopened(errno, path) }
        switch status.kind {
        case S_IFLNK: return .refused(.symbolicLink)
        case S_IFDIR:
            // Opening with `O_PATH` requires only the permission to search the directory, like any use of a path.
            let opened = openat(descriptor, name, pathOnly | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            return opened < 0 ? .unopened(errno, path) : .directory(OpenFile(descriptor: opened, path: path))
        case S_IFREG:
            let opened = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
            guard opened >= 0 else { return .unopened(errno, path) }
            let file = OpenFile(descriptor: opened, path: path)
            guard fstat(opened, &status) == 0 else { return .unopened(errno, path) }
            guard status.kind == S_IFREG else { return .refused(.notARegularFile) }
            return .file(StampedFile(file: file, stamp: FileStamp(status), path: path))
        default: return .refused(.notARegularFile)
        }
    }
}

/// `O_PATH` of `open(2)`, which the Glibc module leaves out; the same on every architecture that Swift runs on.
private let pathOnly: Int32 = 0o10_000_000

extension Located {
    fileprivate static func unopened(_ errorNumber: Int32, _ path: String) -> Located {
        switch errorNumber {
        case ENOENT, ENOTDIR, ENAMETOOLONG: .missing
        case ELOOP: .refused(.symbolicLink)
        default: .failed(.unreadable(path, errorNumber: errorNumber))
        }
    }
}

/// A path that is compared and hashed as bytes.
///
/// `String` treats canonically equivalent forms as equal, so as a dictionary key it would let the NFD form of a name
/// find the file whose name is in NFC.
struct ExactPath: Sendable, Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ExactPath, right: ExactPath) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        let isHashed: Void? = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: .init($0)) }
        if isHashed == nil {
            Array(text.utf8).withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}
