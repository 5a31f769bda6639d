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
