import Foundation
import Logging
import Metrics
import Synchronization
import WaystationStorage

/// Sends events to every stream, to the log and to the metrics.
final class EventBroadcaster: Sendable {
    /// A reader that falls further behind loses the oldest events.
    static let streamCapacity = 4096

    private let logger: Logger
    private let readers = Mutex(StreamReaders<LoadEvent>())
    /// Read first on every hit, because often there is no reader.
    private let readerCount = Atomic(0)
    private let counters = Counters()

    init(logger: Logger) {
        self.logger = logger
    }

    deinit {
        readers.withLock { $0 }.finish()
    }

    /// A new stream with the present condition, followed by all new events.
    ///
    /// `condition` is called once. It returns events that were emitted before and are still true; they are not emitted
    /// again.
    func makeStream(after condition: @escaping () -> [LoadEvent] = { [] }) -> AsyncStream<LoadEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.streamCapacity)) { continuation in
            // The reader is counted first, so that an event that is emitted meanwhile waits for the lock.
            readerCount.add(1, ordering: .sequentiallyConsistent)
            // `condition` is called under the lock, so that the end of a condition cannot be sent before the condition.
            let number = readers.withLock { readers in
                for event in condition() { continuation.yield(event) }
                return readers.add(continuation)
            }
            continuation.onTermination = { [weak self] _ in
                guard let self, readers.withLock({ $0.remove(number) }) else { return }
                readerCount.subtract(1, ordering: .relaxed)
            }
        }
    }

    /// Sends the event to all streams, the log and the metrics.
    func emit(_ event: LoadEvent) {
        counters.count(event.kind)
        let level = Self.level(of: event.kind)
        if level >= logger.logLevel {
            logger.log(level: level, "load", metadata: ["event": .stringConvertible(event)])
        }
        guard readerCount.load(ordering: .relaxed) > 0 else { return }
        readers.withLock { $0 }.yield(event)
    }

    /// The log level of an event; above `debug` only if something is really wrong.
    private static func level(of kind: LoadEvent.Kind) -> Logger.Level {
        switch kind {
        case _ where kind.isTrouble: .warning
        case .degraded, .store, .shared, .source, .login, .cookies, .failed, .blocked: .debug
        case .served, .handedBack, .stored, .openedElsewhere, .cancelled: .trace
        }
    }
}

/// The counters of an interceptor, with the names that `Docs/Architecture.md` documents.
private struct Counters: Sendable {
    private let packs = Counter(label: "waystation_served", dimensions: [("source", "pack")])
    private let files = Counter(label: "waystation_served", dimensions: [("source", "files")])
    private let cache = Counter(label: "waystation_served", dimensions: [("source", "cache")])
    private let shared = Counter(label: "waystation_served", dimensions: [("source", "shared")])
    private let network = Counter(label: "waystation_served", dimensions: [("source", "network")])
    private let foundation = Counter(label: "waystation_served", dimensions: [("source", "foundation")])
    private let app = Counter(label: "waystation_served", dimensions: [("source", "app")])
    private let servedBytes = Counter(label: "waystation_served_bytes")
    private let stored = Counter(label: "waystation_stored")
    private let failed = Counter(label: "waystation_failed")
    private let blocked = Counter(label: "waystation_blocked")
    private let openedElsewhere = Counter(label: "waystation_opened_elsewhere")
    private let cancelled = Counter(label: "waystation_cancelled")
    private let degraded = Counter(label: "waystation_degraded")

    func count(_ kind: LoadEvent.Kind) {
        switch kind {
        case .served(let source, _, let bytes):
            switch source {
            case .pack: packs.increment()
            case .files: files.increment()
            case .cache: cache.increment()
            case .shared: shared.increment()
            case .network: network.increment()
            case .foundation: foundation.increment()
            default: app.increment()
            }
            servedBytes.increment(by: bytes)
        case .stored: stored.increment()
        case .failed: failed.increment()
        case .blocked: blocked.increment()
        case .openedElsewhere: openedElsewhere.increment()
        case .cancelled: cancelled.increment()
        case .degraded: degraded.increment()
        case .store(let event): if event.isTrouble { degraded.increment() }
        case .shared(let event): if event.isTrouble { degraded.increment() }
        case .source(let event): if event.isTrouble { degraded.increment() }
        case .cookies(let event): if event.isTrouble { degraded.increment() }
        case .handedBack, .login: break
        }
    }
}

extension LoadEvent.Kind {
    /// Whether the event reports a problem of the cache, a file, a pack, a login or the cookies.
    package var isTrouble: Bool {
        switch self {
        case .degraded: true
        case .store(let event): event.isTrouble
        case .shared(let event): event.isTrouble
        case .source(let event): event.isTrouble
        case .login(let event): event.isTrouble
        case .cookies(let event): event.isTrouble
        default: false
        }
    }
}

extension TierEvent {
    /// Whether the event reports a problem.
    fileprivate var isTrouble: Bool { kind != .resumed }
}

extension StoreEvent {
    /// Whether the event reports a problem, instead of the cache's normal work.
    fileprivate var isTrouble: Bool {
        switch kind {
        case .damaged, .unavailable, .full, .truncated: true
        default: false
        }
    }
}
