public import Foundation
import WaystationHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A point in time on the file system's clock.
package struct FileTime: Sendable, Hashable, Comparable {
    package var seconds: Int
    package var nanoseconds: Int

    package init(seconds: Int, nanoseconds: Int = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    init(_ time: timespec) {
        self.init(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }

    package static func < (left: FileTime, right: FileTime) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }

    /// The current time of the clock that the kernel uses for file times, at the same granularity.
    @Sendable package static func now() -> FileTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return FileTime(time)
    }
}

/// The properties of a file that show that it is unchanged.
///
/// The change time is included although the content may be the same when it changes: it cannot be set back by hand, and
/// it changes with the permissions, so that a file made unreadable is no longer served from memory.
struct FileStamp: Sendable, Hashable {
    let device: UInt
    let inode: UInt
    let size: Int
    let modified: FileTime
    let changed: FileTime

    init(_ status: stat) {
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        size = Int(status.st_size)
        modified = FileTime(status.st_mtim)
        changed = FileTime(status.st_ctim)
    }

    /// Whether every write after `moment` is certain to change the stamp.
    ///
    /// A file that is written twice within one tick of the kernel's clock keeps its stamp. So a stamp may only be
    /// remembered when its tick is over (the "racily clean" entries of git's index).
    func isSettled(at moment: FileTime) -> Bool {
        modified < moment && changed < moment
    }
}

extension stat {
    var kind: mode_t { st_mode & S_IFMT }
}

/// A regular file that is open for reading, with its stamp when it was opened.
struct StampedFile: Sendable {
    let file: OpenFile
    let stamp: FileStamp
    /// The path relative to the root, for messages.
    let path: String

    /// Reads exactly `count` bytes; throws if the file ends before that.
    func read(at offset: Int, count: Int) throws(OfflineDirectoryError) -> Data {
        var data = Data(count: count)
        var done = 0
        while done < count {
            let result = data.withUnsafeMutableBytes { bytes in
                pread(file.descriptor, bytes.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
            }
            switch result {
            case 0: throw .changed(path)
            case ..<0 where errno == EINTR: continue
            case ..<0: throw .unreadable(path, errorNumber: errno)
            default: done += result
            }
        }
        return data
    }

    /// Whether size and modification time are the same as when the file was opened.
    ///
    /// The change time is not compared: it also changes when a new version is renamed over this file, which does not
    /// affect the bytes behind this descriptor.
    func hasSameContentStamp() throws(OfflineDirectoryError) -> Bool {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { throw .unreadable(path, errorNumber: errno) }
        let now = FileStamp(status)
        return now.size == stamp.size && now.modified == stamp.modified
    }
}

/// A range of bytes of an open file.
///
/// The slice owns an open descriptor, which is closed when the last reference is released. If the file is replaced or
/// removed meanwhile, its old content stays readable. May be read from several threads at once.
public final class FileSlice: Sendable {
    /// The offset of the slice in the file, in bytes.
    public let offset: Int
    /// The number of bytes in the slice.
    public let length: Int
    /// The suggested number of bytes to read at a time.
    public let chunkSize: Int

    private let file: StampedFile

    init(of file: StampedFile, offset: Int, length: Int, chunkSize: Int) {
        self.file = file
        self.offset = offset
        self.length = length
        self.chunkSize = chunkSize
    }

    /// Reads bytes of the part; the call blocks for as long as the disk needs.
    ///
    /// - Parameters:
    ///   - position: The first byte to read, counted from the start of the slice.
    ///   - count: The maximum number of bytes to read.
    /// - Returns: Exactly `count` bytes, or fewer at the end of the slice; empty beyond the end.
    /// - Throws: ``OfflineDirectoryError/Code/changedWhileReading`` when the file shrank or was rewritten in place
    ///   since it was opened, so that the bytes of two versions are never mixed and a truncated body is never taken for
    ///   a complete one; ``OfflineDirectoryError/Code/unreadable`` when the system cannot read it.
    public func read(at position: Int, count: Int) throws(OfflineDirectoryError) -> Data {
        guard position >= 0, position < length, count > 0 else { return Data() }
        let data = try file.read(at: offset + position, count: min(count, length - position))
        guard try file.hasSameContentStamp() else { throw .changed(file.path) }
        return data
    }
}

/// The results of reading a whole file: its digest, its first bytes, and whether it is UTF-8.
struct Fingerprint: Sendable {
    /// The SHA-256 of the content.
    let digest: Data
    /// The first bytes, as many as are needed to determine the media type.
    let leadingBytes: Data
    /// Whether all bytes together are valid UTF-8.
    let isUTF8: Bool

    /// A strong validator made from the content (RFC 9110 section 8.8.3): 128 bits of its SHA-256.
    var entityTag: EntityTag {
        let opaque = digest.prefix(16).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return EntityTag(strong: opaque)
    }
}

/// Takes the bytes of a file in order and makes its ``Fingerprint``.
struct Fingerprinter {
    private var hash = MessageDigest()
    private var leadingBytes = Data()
    private var text = UTF8Validator()

    mutating func take(_ bytes: Data) {
        hash.update(bytes)
        if leadingBytes.count < MediaType.leadingByteCount {
            leadingBytes += bytes.prefix(MediaType.leadingByteCount - leadingBytes.count)
        }
        text.take(bytes)
    }

    consuming func finish() -> Fingerprint {
        Fingerprint(
            digest: Data(hash.bytes),
            leadingBytes: leadingBytes,
            isUTF8: text.isValidAtEnd
        )
    }
}

/// The fingerprints of files that are too large to be kept in memory, by stamp.
///
/// The size is limited: when the table is full, it is emptied.
struct FingerprintMemo: Sendable {
    private static let limit = 4096
    private var known: [FileStamp: Fingerprint] = [:]

    subscript(stamp: FileStamp) -> Fingerprint? {
        get { known[stamp] }
        set {
            if known.count >= Self.limit { known.removeAll() }
            known[stamp] = newValue
        }
    }
}
