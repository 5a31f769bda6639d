public import Foundation
import Synchronization
public import WaystationCaching
import WaystationFields
import WaystationFileSystem

/// HTTP responses on disk, limited by age and size.
///
/// ```swift
/// let limits = StoreLimits(maximumSize: .mebibytes(200))
/// let store = ResponseStore(directory: caches.appending(path: "http"), limits: limits)
/// let writer = store.begin(
///     StoredHead(key: key, status: 200, headerFields: fields, requestTime: sent, responseTime: received)
/// )
/// writer?.append(body)
/// try await writer?.commit()
/// var responses = store.resident(key)  // from memory alone
/// if responses == nil { responses = await store.lookup(key) }
/// ```
///
/// **It never fails a load.** When a store is damaged, locked, full or on a path that cannot be written, its look-ups
/// miss, its writes are dropped, and it reports an event. A damaged index is moved aside and replaced. Opening happens
/// in the background, and is tried again every 30 s when it failed.
///
/// **It waits 10 to 20 s for a disk that hangs.** A look-up that has waited for so long (for the first opening, for a
/// change of its key or for its own reading) is a miss. Until the disk answers, look-ups that would wait too are misses
/// at once, ``begin(_:asOf:)`` returns `nil`, and two events report the beginning and the end. This does not cover
/// reading the body of a response that was found, ``flush()``, ``statistics()`` and awaited changes: they take as long
/// as the disk does. Writes that were begun before the disk hung wait in memory, without a limit. On a disk that
/// answers reads but not writes, all writes wait in memory in this way, until a look-up waits for one of them.
///
/// **It survives a kill at any moment:** each response is then either in its old or in its new state.
///
/// **Small writes are gathered.** A response that is stored or freshened while the store is idle is written at once.
/// After that, responses with small bodies and new fields are written together every 20 ms, or as soon as there are 64
/// of them or they take 4 MiB. Within this process, only the time of the completions shows this: later operations run
/// after the gathered writes, and a caller that awaits a result does not wait for the interval. A process that is
/// killed loses at most what was handed over in its last 20 ms and what had not been written by then; ``flush()``
/// returns when all of it is written. A store that its owner releases writes its gathered responses first.
///
/// **Several processes** may use one directory. Look-ups see what other processes have committed; the store may return
/// a response from memory for at most a second after another process removed it.
///
/// **The end of the process.** A process that ends by `exit`, or by returning from its main function, first waits until
/// its stores have written everything that was handed to them, and which responses were used; it waits for at most 5 s.
/// A process that ends otherwise (by a signal, `_exit` or a crash) does not wait.
///
/// **Threads.** All methods may be called from any thread and none waits for the disk. Completions and events are
/// called on the store's own queues, which wait for them to return: move longer work to another queue.
public final class ResponseStore: Sendable {
    /// The directory that holds the store; the store makes it if it is missing, with access for its owner only.
    public let directory: URL

    /// The limits the store was made with.
    public let limits: StoreLimits

    let now: @Sendable () -> Date
    let report: @Sendable (StoreEvent) -> Void
    let environment: StoreEnvironment
    let layout: StoreLayout
    let resident: ResidentResponses
    let invalidations = InvalidationLog()
    /// Runs one look-up at a time; suspended until the store was opened the first time.
    let readQueue = DispatchQueue(label: "Waystation.store.read", qos: .userInitiated)
    /// Runs all changes of the store, in order.
    let writeQueue = DispatchQueue(label: "Waystation.store.write")
    /// Runs the work that must not wait for the disk.
    let watchQueue = DispatchQueue(label: "Waystation.store.watch", qos: .userInitiated)
    /// Look-ups that the disk has not answered yet.
    let lookUps = Mutex(LookUps())
    /// Small writes that were handed over and are not on the write queue yet.
    let gathering: Mutex<WriteGathering<GatheredWrite>>
    let budget: DiskBudget
    let state = Mutex(State())
    /// The bytes of large bodies that wait for the disk.
    let spooling = Atomic(0)

    /// The parts of an open store.
    struct Opened: Sendable {
        let index: StoreIndex
        let staging: StagingDirectory
    }

    enum Availability: Sendable {
        case opening
        case open(Opened)
        case unavailable(until: Date)
    }

    struct State {
        var availability = Availability.opening
        var writesPausedUntil = Date.distantPast
        var dataVersion: Int64 = 0
        /// When it was last checked that the open index is the one in the directory.
        var placeCheckedAt = Date.distantPast
        var uses: [Int64: Date] = [:]
        /// Whether the writing of uses is already scheduled.
        var awaitsUses = false
        var upkeep = Upkeep()
        var space = OtherSpace()
        /// Whether the emptying of the log is already scheduled.
        var awaitsRest = false
        var stored = 0
        /// Whether another attempt to make failed removals is already scheduled.
        var awaitsRemovals = false
        var condition = StoreCondition()
    }

    /// How long the store waits before it tries again to open, or to write to a disk that was full.
    static let retryInterval: TimeInterval = 30

    /// Makes a store and begins to open it in the background.
    ///
    /// - Parameters:
    ///   - directory: The directory of the store; it should hold nothing else.
    ///   - limits: How much is kept and for how long.
    ///   - now: The clock.
    ///   - events: Receives the store's events; called on the store's own queues.
    public convenience init(
        directory: URL,
        limits: StoreLimits = StoreLimits(),
        now: @escaping @Sendable () -> Date = { Date() },
        events: @escaping @Sendable (StoreEvent) -> Void = { _ in }
    ) {
        self.init(directory: directory, limits: limits, environment: StoreEnvironment(), now: now, events: events)
    }

    package init(
        directory: URL,
        limits: StoreLimits = StoreLimits(),
        environment: StoreEnvironment,
        now: @escaping @Sendable () -> Date = { Date() },
        events: @escaping @Sendable (StoreEvent) -> Void = { _ in }
    ) {
        self.directory = directory
        self.limits = limits
        self.now = now
        self.report = events
        self.budget = DiskBudget(limits.maximumSize)
        self.gathering = Mutex(WriteGathering(maximumBytes: budget.step))
        let layout = StoreLayout(directory: directory)
        self.layout = layout
        var environment = environment
        environment.fileSystem = environment.fileSystem.confined(to: layout.root)
        self.environment = environment
        self.resident = ResidentResponses(limit: limits.residentLimit)
        writeQueue.setSpecific(key: Self.writeQueueKey, value: ObjectIdentifier(self))
        StoresAtExit.add(self)
        // Look-ups that begin before the store is open wait for it, so that the first load of a process can hit.
        readQueue.suspend()
        writeQueue.async { [self] in
            open()
            readQueue.resume()
        }
    }

    deinit {
        let (uses, availability) = state.withLock { ($0.uses, $0.availability) }
        guard !uses.isEmpty, case .open(let opened) = availability else { return }
        // Only the order of eviction depends on uses, so an error is not reported.
        writeQueue.async { [now = self.now] in try? opened.index.touch(uses, at: now()) }
    }

    /// The responses of a key, if a look-up has read them into memory and they are known to be current.
    ///
    /// Reads memory only and takes well under a microsecond. `nil` does not mean that the disk has no response: call
    /// ``lookup(_:)`` then.
    /// The same instances are returned as long as nothing changes them.
    public func resident(_ key: RequestKey) -> [StoredResponse]? {
        let time = now()
        let answer = resident.responses(for: key, at: time)
        if answer.needsCheck { writeQueue.async { self.checkForOtherProcesses() } }
        guard let responses = answer.responses, let oldest = responses.last else { return nil }
        guard !isExpired(oldest.head.responseTime, at: time) else { return nil }
        if answer.needsUseNoted { noteUse(of: responses.map(\.id), at: time) }
        return responses
    }

    /// Finds the variants of a key, newest first.
    ///
    /// The look-up sees every response of this process whose commit was requested before: if such a commit is not
    /// finished, the look-up waits for it. The completion is called once, on one of the store's queues. It gets an
    /// empty array when the key is not stored, the store does not work, or the disk did not answer for 10 to 20 s.
    public func lookup(_ key: RequestKey, completion: @escaping @Sendable ([StoredResponse]) -> Void) {
        wait(for: key, opening: { _ in true }, completion: completion)
    }

    /// Finds the variants of a key, newest first.
    public func lookup(_ key: RequestKey) async -> [StoredResponse] {
        await withCheckedContinuation { continuation in
            lookup(key) { continuation.resume(returning: $0) }
        }
    }

    /// Begins to store a response.
    ///
    /// - Parameters:
    ///   - head: The head of the response, with the key under which it is stored. The store keeps neither its
    ///     `isComplete` nor its `needsValidation`, and a body of another length than its `contentLength` is not stored.
    ///   - moment: When its request was sent; a response that was invalidated since then is not stored. Default: now,
    ///     which ignores invalidations between the request and this call.
    /// - Returns: `nil` when the response would not be stored: its announced body length exceeds
    ///   ``StoreLimits/maximumEntrySize``, or its vary key matches no request, or writes are paused because the disk is
    ///   full or does not answer, or the store does not work.
    public func begin(_ head: StoredHead, asOf moment: StoreMoment? = nil) -> ResponseWriter? {
        // On disk, a vary key is its nominated fields, so this one would be read as a key that matches every request.
        guard !head.vary.matchesNothing else { return nil }
        if let length = head.contentLength, length > largestBody {
            reportTooLarge(head.key, length: length)
            return nil
        }
        // While the disk hangs, no write is begun, because each one would wait in memory until the disk answers.
        guard acceptsWrites(at: now()), !lookUps.withLock({ $0.isHanging }) else { return nil }
        return ResponseWriter(
            head: head,
            store: self,
            spool: BodyStaging(fileSystem: environment.fileSystem),
            moment: moment ?? self.moment()
        )
    }

    /// The current problems of the store, as the events that reported them; empty if the store has no problem.
    ///
    /// It holds the last `unavailable` event until the store works, the event of a hanging disk until the disk answers,
    /// the `full` event while writes are paused, and for the rest of the run the `damaged` event of an index that had
    /// to be replaced.
    public var condition: [StoreEvent] {
        let time = now()
        return state.withLock { $0.condition.events(isPaused: !Self.isDue($0.writesPausedUntil, at: time)) }
    }

    /// Returns when all operations requested before have finished, including the upkeep that they caused.
    ///
    /// No gathered writes are left then: all that was committed or freshened before the call is on disk.
    public func flush() async {
        await withCheckedContinuation { continuation in
            readQueue.async { self.enqueue { self.finishFlush(continuation) } }
        }
    }

    /// The store's current contents and its counters.
    public func statistics() async -> StoreStatistics {
        await withCheckedContinuation { continuation in
            enqueue { self.readQueue.async { continuation.resume(returning: self.currentStatistics()) } }
        }
    }

    /// The largest body that can be kept without evicting itself.
    package var largestBody: Int { min(limits.maximumEntrySize.bytes, budget.lowWater.responses) }

    /// The largest body that is kept in the index: a larger one would make the log of a small store too large.
    var largestInlineBody: Int { min(limits.inlineBodyLimit.bytes, budget.step) }

    func isExpired(_ responseTime: Date, at time: Date) -> Bool {
        time.timeIntervalSince(responseTime) > limits.maximumAge.inSeconds
    }
}
