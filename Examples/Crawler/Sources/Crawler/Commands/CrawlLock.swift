import Foundation

/// The right to write a crawl's journal, which one process at a time has.
///
/// Two crawls would give the same ids to different resources. The lock is on the file `crawl.lock`, not on the journal:
/// SQLite has locks of its own on that one. It ends with the process, however the process ends.
final class CrawlLock: Sendable {
    private let descriptor: Int32

    /// - Throws: `Busy` if another crawl has the lock; `POSIXError` if the file cannot be made or locked.
    init(in directory: URL) throws {
        let path = directory.appending(path: "crawl.lock").path
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Self.failure }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw errno == EWOULDBLOCK ? Busy() : Self.failure }
    }

    /// The error of the last system call.
    private static var failure: any Error { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    struct Busy: LocalizedError {
        var errorDescription: String? {
            "another crawl is writing into it. Wait until that one ends, or name another directory"
        }
    }
}
