import Glibc

/// A moment of the file system's clock.
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

    /// The clock that the kernel stamps files with, at the same granularity.
    @Sendable package static func now() -> FileTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return FileTime(time)
    }
}

/// What must stay the same for a file to count as unchanged.
///
/// The change time is part of it, though contents do not depend on it alone: it cannot be set back by hand, and it
/// moves when permissions do, so that a file made unreadable is not served from memory any more.
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

    /// Whether every write after `moment` is sure to change the stamp.
    ///
    /// A file written twice within one tick of the kernel's clock keeps its stamp. So a stamp is only worth remembering
    /// when its tick is over (the "racily clean" entries of git's index).
    func isSettled(at moment: FileTime) -> Bool {
        modified < moment && changed < moment
    }
}

extension stat {
    var kind: mode_t { st_mode & S_IFMT }
}
