public import Foundation
import Synchronization
public import WaystationStorage

/// The response cache: what was loaded, kept on disk with its time, bounded by age and bytes.
///
/// One directory may be used by several caches and processes at once. A cache that cannot read or write, on a
/// full or damaged disk, degrades: look-ups find nothing, nothing is stored, loads go to the network, and an
/// event says so.
///
/// ```swift
/// let cache = try ResponseCache(
///     directory: caches.appending(path: "http"),
///     maximumSize: .megabytes(200),
///     maximumAge: .days(30)
/// )
/// ```
public final class ResponseCache: Sendable {
    package let store: ResponseStore
    private let listeners: Listeners
    private let now: @Sendable () -> Date

    /// The directory that holds the cache.
    public let directory: URL

    /// Opens, or makes, the cache in a directory.
    ///
    /// - Parameters:
    ///   - directory: A folder of its own; made when missing, with access for its owner alone.
    ///   - maximumSize: The total that is kept, 256 MiB by default. Above it the least recently used responses
    ///     go until 80 % remain.
    ///   - maximumAge: What is older is cleaned up by itself; 30 days by default.
    ///   - maximumEntrySize: A larger body is delivered and not kept; 32 MiB by default.
    ///   - memorySize: What is kept at hand in memory besides; 32 MiB by default, zero for none.
    ///   - now: The clock; for tests.
    /// - Throws: ``WaystationError`` with the code `unusableDirectory` when the directory cannot be made, is not a
    ///   directory, is a symbolic link, belongs to another user or may be written to by others, and when that is so of
    ///   something that the cache would use in it. What may pass, such as a full disk, and a damaged index do not throw:
    ///   loads go to the network meanwhile, and ``condition`` says why.
    public convenience init(
        directory: URL,
        maximumSize: ByteCount = .mebibytes(256),
        maximumAge: Duration = .days(30),
        maximumEntrySize: ByteCount = .mebibytes(32),
        memorySize: ByteCount = .mebibytes(32),
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        try self.init(
            directory: directory,
            limits: StoreLimits(
                maximumSize: maximumSize,
                maximumAge: maximumAge,
                maximumEntrySize: maximumEntrySize,
                residentLimit: memorySize
            ),
            environment: StoreEnvironment(),
            now: now
        )
    }

    /// Opens a cache on a disk of a test's own making.
    package init(
        directory: URL,
        limits: StoreLimits = StoreLimits(),
        environment: StoreEnvironment,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        guard directory.isFileURL else {
            throw WaystationError(.unusableDirectory, "the cache's directory is \(directory), which is not a file URL")
        }
        do {
            try ResponseStore.prepareDirectory(directory)
        } catch {
            let reason = error.cause.map { " (\($0))" } ?? ""
            throw WaystationError(.unusableDirectory, error.message + reason, cause: error.cause)
        }
        let listeners = Listeners()
        self.listeners = listeners
        self.now = now
        self.directory = directory
        store = ResponseStore(directory: directory, limits: limits, environment: environment, now: now) {
            listeners.report($0)
        }
    }

    /// Removes everything.
    ///
    /// Returns how many responses that were.
    @discardableResult
    public func removeAll() async throws -> Int { try await store.removeAll() }

    /// Removes what is stored for a URL, in all its variants.
    @discardableResult
    public func remove(_ url: URL) async throws -> Int {
        try await store.remove(url: CanonicalRequest.url(of: url))
    }

    /// Removes everything whose URL begins with `prefix`, such as `https://shop.example/app/`.
    @discardableResult
    public func remove(prefix: String) async throws -> Int { try await store.remove(prefix: prefix) }

    /// Removes everything from a host, such as `img.example`.
    @discardableResult
    public func remove(host: String) async throws -> Int { try await store.remove(host: host) }

    /// Removes everything that arrived longer ago than `age`.
    @discardableResult
    public func remove(olderThan age: Duration) async throws -> Int {
        try await store.remove(olderThan: now().addingTimeInterval(-age.inSeconds))
    }

    /// Counts of what is stored.
    public var statistics: StoreStatistics {
        get async { await store.statistics() }
    }

    /// Waits until everything that was handed over is on disk.
    public func flush() async { await store.flush() }

    /// What is wrong with the cache now: the events that reported it, none when all is well.
    ///
    /// A cache opens in the background; ``flush()`` returns when it has tried to. Readers of ``Interceptor/events`` get
    /// these first.
    public var condition: [StoreEvent] { store.condition }

    /// Calls `listener` for every event from now on, and for those of ``condition`` first; several interceptors may
    /// share one cache.
    func addListener(_ listener: @escaping @Sendable (StoreEvent) -> Void) {
        listeners.add(listener)
        for event in condition { listener(event) }
    }

    private final class Listeners: Sendable {
        private let listeners = Mutex<[@Sendable (StoreEvent) -> Void]>([])

        func add(_ listener: @escaping @Sendable (StoreEvent) -> Void) {
            listeners.withLock { $0.append(listener) }
        }

        func report(_ event: StoreEvent) {
            for listener in listeners.withLock({ $0 }) { listener(event) }
        }
    }
}
