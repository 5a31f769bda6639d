import Dispatch
import Foundation
import Synchronization
import WaystationCookies
import WaystationFileSystem
import WaystationStorage

/// The file in which cookies are stored.
///
/// It is readable by its owner alone, and replaced as a whole.
///
/// Writes are made one at a time; a change during a write is written by the next one. The normal end of the process
/// waits for the last one.
final class CookieFile: DelayedWriter {
    /// Identifies the queue of a file.
    private static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

    let url: URL
    private let fileSystem: any FileSystem
    private let queue = DispatchQueue(label: "waystation.cookies.file")
    private let isDue = Mutex(false)

    init(_ url: URL, fileSystem: any FileSystem = LocalFileSystem()) {
        self.url = url
        self.fileSystem = fileSystem
        queue.setSpecific(key: Self.queueKey, value: ObjectIdentifier(self))
        StoresAtExit.add(self)
    }

    private var path: String { url.path(percentEncoded: false) }

    /// The largest size of a file that is read: room for every cookie that the rules allow, each with the longest name,
    /// value and attributes that a response can set.
    private static func limit(for rules: CookieRules) -> Int {
        let (size, isOverflow) = max(0, rules.maximumInAll).multipliedReportingOverflow(by: 16 << 10)
        return isOverflow ? .max : max(64 << 20, size)
    }

    /// The stored cookies; nil when there is no file yet.
    ///
    /// A file that cannot be read, or is larger than the rules can make it, is renamed, so that it is not overwritten.
    func read(under rules: CookieRules) throws -> CookieJar? {
        do {
            // Cookies that another user wrote do not belong to this app, and no other user may read the app's cookies.
            try fileSystem.makePrivate(path)
            guard let data = try fileSystem.readFile(path, limit: Self.limit(for: rules)) else { return nil }
            return try JSONDecoder().decode(CookieJar.self, from: data)
        } catch {
            try? fileSystem.rename(path, to: path + ".damaged")
            throw error
        }
    }

    /// Writes the jar that `jar` returns when the write begins; `done` gets the error, or nil after success.
    func save(_ jar: @escaping @Sendable () -> CookieJar, done: @escaping @Sendable (URL, (any Error)?) -> Void) {
        let isDueAlready = isDue.withLock { isDue in
            defer { isDue = true }
            return isDue
        }
        guard !isDueAlready else { return }
        queue.async { [self] in
            isDue.withLock { $0 = false }
            let jar = jar()
            do {
                try fileSystem.createDirectory((path as NSString).deletingLastPathComponent)
                try fileSystem.replaceFile(path, with: JSONEncoder().encode(jar))
                done(url, nil)
            } catch {
                done(url, error)
            }
        }
    }

    func beginFinishing() -> DispatchSemaphore? {
        // An event's handler may call `exit` on this queue.
        guard DispatchQueue.getSpecific(key: Self.queueKey) != ObjectIdentifier(self) else { return nil }
        let isDone = DispatchSemaphore(value: 0)
        queue.async { isDone.signal() }
        return isDone
    }

    /// Returns when all writes that were requested before are on disk.
    func flush() async {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
    }
}
