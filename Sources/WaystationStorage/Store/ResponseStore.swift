public import Foundation
import Synchronization
import WaystationFileSystem

/// HTTP responses on disk, bounded by age and bytes.
///
/// ```swift
/// let limits = StoreLimits(maximumSize: .mebibytes(200))
/// let store = ResponseStore(directory: caches.appending(path: "http"), limits: limits)
/// let writer = store.begin(
///     NewResponse(key: key, status: 200, headerFields: fields, requestTime: sent, responseTime: received)
/// )
/// writer?.append(body)
/// try await writer?.commit()
/// var responses = store.resident(key)  // from memory alone
/// if responses == nil { responses = await store.lookup(key) }
/// ```
///
/// **It never fails a load.** A store that is damaged, locked, full or on a path that cannot be written misses its
/// look-ups and drops its writes, and says so in an event; a damaged index is moved aside and replaced. Opening
/// happens in the background, and is tried again every 30 s when it did not work.
///
/// **It waits 10 to 20 s for a disk that hangs.** A look-up that has waited for so long, be it for the first opening,
/// for a change of its key or for its own reading, is a miss. Until the disk answers, look-ups that would wait too are
/// misses at once, ``begin(_:asOf:)`` takes nothing, and two events say when that began and ended. Not covered: reading
/// the body of a response that was found, and ``flush()``, ``statistics()`` and awaited changes, take as long as the
/// disk does. Writes that were begun before wait in memory, without a bound; so do those of a disk that reads while it
/// does not write, until a look-up waits for one of them.
///
/// **It survives a kill at any moment:** each response is then either as before or as after.
///
/// **Small writes are gathered.** A response that is stored or freshened while the store is idle is written at once.
/// After that, responses with small bodies and new fields are written together every 20 ms, or when they are 64 or take
/// 4 MiB. This process sees it only by the time when completions come: what is asked for later comes after them, and
/// who awaits a result does not wait for the interval. A process that is killed loses at most what was handed over in
/// its last 20 ms and what had not been written by then; ``flush()`` returns when all of it has. A store that its owner
/// lets go writes what is gathered before it goes.
///
/// **Several processes** may use one directory. Look-ups see what others have committed; a response in memory may be
/// answered for at most a second after another process removed it.
///
/// **The end of the process.** A process that ends by `exit`, or by returning from its main function, first waits until
/// its stores have written what they were given, for at most 5 s. One that ends otherwise (by a signal, `_exit` or a
/// crash) does not.
///
/// **Threads.** All methods may be called from any thread and none waits for the disk. Completions and events are
/// called on the store's own queues, which wait for them: hand longer work on.
public final class ResponseStore: Sendable {
    /// The directory that holds the store; made when missing, with access for its owner alone.
    public let directory: URL

    /// The limits the store was made with.
    public let limits: StoreLimits

    let now: @Sendable () -> Date
    let report: @Sendable (StoreEvent) -> Void
    let environment: StoreEnvironment
    let layout: StoreLayout
    let resident: ResidentResponses
    let invalidations = InvalidationLog()
    /// One look-up at a time; waits for the first opening.
    let readQueue = DispatchQueue(label: "Waystation.store.read", qos: .userInitiated)
    /// Everything that changes the store, in order.
    let writeQueue = DispatchQueue(label: "Waystation.store.write")
    /// What must not wait for the disk.
    let watchQueue = DispatchQueue(label: "Waystation.store.watch", qos: .userInitiated)
    /// Look-ups that the disk has not answered yet.
    let lookUps = Mutex(LookUps())
    /// Small writes that were handed over and are not on the write queue yet.
    let gathering = Mutex(WriteGathering<GatheredWrite>())
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
        var uses: [Int64: Date] = [:]
        var upkeep = Upkeep()
        var stored = 0
        var condition = StoreCondition()
    }

    /// How long the store waits before it tries again to open, or to write to a disk that was full.
    static let retryInterval: TimeInterval = 30

    /// Makes a store and begins to open it in the background.
    ///
    /// - Parameters:
    ///   - directory: Where the store is; nothing else should be in it.
    ///   - limits: How much is kept and for how long.
    ///   - now: The clock.
    ///   - events: Told what happens; called on the store's own queues.
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
        let layout = StoreLayout(directory: directory)
        self.layout = layout
        var environment = environment
        environment.fileSystem = environment.fileSystem.confined(to: layout.root)
        self.environment = environment
        self.resident = ResidentResponses(limit: limits.residentLimit)
        writeQueue.setSpecific(key: Self.writeQueueKey, value: ObjectIdentifier(self))
        StoresAtExit.add(self)
        // Look-ups that come before the store is open wait for it, so that the first load of a process can hit.
        readQueue.suspend()
        writeQueue.async { [self] in
            open()
            readQueue.resume()
        }
    }

    /// The responses of a key, if a look-up has brought them into memory and they are sure to be current.
    ///
    /// Touches memory only and takes well under a microsecond. `nil` says nothing about the disk: look up then.
    /// The same instances are returned as long as nothing changes them.
    public func resident(_ key: RequestKey) -> [StoredResponse]? {
        let time = now()
        let answer = resident.responses(for: key, at: time)
        if answer.needsCheck { writeQueue.async { self.checkForOtherProcesses() } }
        guard let responses = answer.responses, let oldest = responses.last else { return nil }
        guard !isExpired(oldest.responseTime, at: time) else { return nil }
        if answer.needsUseNoted { noteUse(of: responses.map(\.id), at: time) }
        return responses
    }

    /// Finds the variants of a key, newest first.
    ///
    /// It sees every response of this process whose commit was asked for before: where one is under way it waits for
    /// it. The completion is called once, on one of the store's queues; with nothing when the key is not stored, the
    /// store does not work, or the disk did not answer for 10 to 20 s.
    public func lookup(_ key: RequestKey, completion: @escaping @Sendable ([StoredResponse]) -> Void) {
        wait(for: key, completion: completion)
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
    ///   - entry: The response.
    ///   - moment: When its request was sent; what was invalidated since then is not stored. Default: now, so that
    ///     invalidations between request and response are not seen.
    /// - Returns: `nil` when it would not be kept: its body is announced as larger than
    ///   ``StoreLimits/maximumEntrySize``, or writes are paused because the disk is full or does not answer, or
    ///   the store does not work.
    public func begin(_ entry: NewResponse, asOf moment: StoreMoment? = nil) -> ResponseWriter? {
        if let length = entry.expectedLength, length > largestBody {
            reportTooLarge(entry.key, length: length)
            return nil
        }
        // Each write would wait in memory for as long as the disk hangs.
        guard acceptsWrites(at: now()), !lookUps.withLock({ $0.isHanging }) else { return nil }
        return ResponseWriter(
            entry: entry,
            store: self,
            spool: BodySpool(fileSystem: environment.fileSystem),
            moment: moment ?? self.moment()
        )
    }

    /// What is wrong with the store now: the events that reported it, none when all is well.
    ///
    /// It holds the last `unavailable` until the store works, that of a disk that hangs until the disk answers, `full`
    /// while writes pause, and for the rest of the run the `damaged` of an index that had to be replaced.
    public var condition: [StoreEvent] {
        let time = now()
        return state.withLock { $0.condition.events(isPaused: time < $0.writesPausedUntil) }
    }

    /// Returns when everything asked of the store before has been done, the upkeep that it caused included.
    ///
    /// Nothing is gathered then: what was committed or freshened before the call is on disk.
    public func flush() async {
        await withCheckedContinuation { continuation in
            readQueue.async { self.enqueue { self.finishFlush(continuation) } }
        }
    }

    /// What the store holds and has done.
    public func statistics() async -> StoreStatistics {
        await withCheckedContinuation { continuation in
            enqueue { self.readQueue.async { continuation.resume(returning: self.currentStatistics()) } }
        }
    }

    /// The largest body that can be kept without evicting itself.
    var largestBody: Int { min(limits.maximumEntrySize.bytes, lowWaterSize) }

    var lowWaterSize: Int { Int(Double(limits.maximumSize.bytes) * StoreLimits.lowWaterMark) }

    func isExpired(_ responseTime: Date, at time: Date) -> Bool {
        time.timeIntervalSince(responseTime) > limits.maximumAge.seconds
    }
}
