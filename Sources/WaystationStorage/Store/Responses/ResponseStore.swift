import Dispatch
public import Foundation
import Synchronization
public import WaystationHTTP

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
    let purges: KnownPurges
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
        let renewals: RenewalLocks
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
        let resident = ResidentResponses(limit: limits.residentLimit)
        self.resident = resident
        // The purges of another process concern what is in memory, and what is on its way.
        self.purges = KnownPurges { [invalidations] scopes in
            for scope in scopes { invalidations.append(scope) }
            resident.confirm(at: nil, hasChanged: true)
        }
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
        let ended = purges.ended
        let answer = resident.responses(for: key, at: time)
        if answer.needsCheck { writeQueue.async { self.checkForOtherProcesses() } }
        guard let responses = answer.responses, let oldest = responses.last,
            purges.allow(responses, readAfter: ended)
        else { return nil }
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
        begin(head, asOf: moment, offset: 0)
    }

    /// Begins to store a response, or the part of it that begins at an offset in its content.
    package func begin(_ head: StoredHead, asOf moment: StoreMoment? = nil, offset: Int) -> ResponseWriter? {
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
            spool: BodyStaging(fileSystem: environment.fileSystem) { StagedPart(head, offset: offset)?.encoded() },
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
    ///
    /// A look-up reads the bodies in the index, of all rows of its key. Only a part (206) has many others beside it, so
    /// larger parts are files.
    func largestInlineBody(of head: StoredHead) -> Int {
        min(limits.inlineBodyLimit.bytes, budget.step, head.status == 206 ? Self.largestInlinePart : .max)
    }

    private static let largestInlinePart = 4 << 10

    func isExpired(_ responseTime: Date, at time: Date) -> Bool {
        time.timeIntervalSince(responseTime) > limits.maximumAge.inSeconds
    }
}

extension ResponseStore {
    /// Makes the directory of a store if it is missing, and checks that a store can work there.
    ///
    /// A store itself opens in the background and reports problems as events. Call this before you make a store to get
    /// the problems that do not go away by themselves as an error. The call waits for the disk.
    /// - Throws: ``StoreError`` with ``StoreError/Code/unusableDirectory`` when the URL is not a file URL, when the
    ///   directory cannot be made, is not a directory, is a symbolic link, belongs to another user or can be written to
    ///   by others, or when one of these is true of something in it that the store would use. Temporary problems, such
    ///   as a full disk, do not throw.
    public static func prepareDirectory(_ directory: URL) throws(StoreError) {
        let layout = StoreLayout(directory: directory)
        do {
            try layout.claim(LocalFileSystem().confined(to: layout.root))
        } catch let error as FileError where error.mayPass {
            // The problem is temporary: the store tries again when it opens, and reports it as an event.
        } catch {
            throw StoreError(
                .unusableDirectory,
                "\(layout.root) cannot hold a store: give it a directory of its own that it can write to",
                cause: error
            )
        }
    }
}

extension FileError {
    /// Whether the same call may succeed later although nothing was changed by hand.
    fileprivate var mayPass: Bool {
        isFull || [EMFILE, ENFILE, ENOMEM, EIO, EINTR, EAGAIN, EBUSY, ESTALE, ETIMEDOUT].contains(code)
    }
}

/// An open index stays usable when its file is moved or removed, and SQLite reports that only without a WAL: what is
/// written then is lost, and look-ups return what no other process sees.
extension ResponseStore {
    /// How often the place of the index is checked, in seconds.
    private static let placeInterval: TimeInterval = 1

    /// The parts of the open store, after a check that its index is still the one in the directory.
    ///
    /// Another process moves an index aside if it finds it damaged; the directory may also be removed. The check is
    /// made at most once a second; it opens the index that is in the directory now, or makes one.
    ///
    /// Call it on the write queue.
    func openedInPlace() -> Opened? {
        dispatchPrecondition(condition: .onQueue(writeQueue))
        if claimPlaceCheck(at: now()) { checkPlace() }
        return opened()
    }

    /// Schedules a check of the index's place on the write queue, if one is due.
    func requestPlaceCheck(at time: Date) {
        if claimPlaceCheck(at: time) { writeQueue.async { self.checkPlace() } }
    }

    /// Claims a check if one is due: the caller must make it.
    ///
    /// - Returns: Whether a check is due.
    private func claimPlaceCheck(at time: Date) -> Bool {
        state.withLock { state in
            guard abs(time.timeIntervalSince(state.placeCheckedAt)) > Self.placeInterval else { return false }
            state.placeCheckedAt = time
            return true
        }
    }

    private func checkPlace() {
        guard let opened = opened() else { return }
        do {
            guard try environment.fileSystem.identity(of: layout.index) != opened.index.identity else { return }
            replace(opened, isDamaged: false)
        } catch {
            handle(error, in: opened, while: "checking the place of the index")
        }
    }
}

/// Look-ups wait for the disk, but not for ever: a disk that hangs must not block the loads that requested them.
extension ResponseStore {
    typealias LookUps = LookUpWatch<@Sendable ([StoredResponse]) -> Void>

    /// Hands a look-up to the disk, after the pending changes of its key.
    func wait(
        for key: RequestKey,
        opening mayAnswer: @escaping @Sendable (StoredHead) -> Bool,
        completion: @escaping @Sendable ([StoredResponse]) -> Void
    ) {
        let isChanging = resident.isChanging(key)
        let ticket = lookUps.withLock { $0.add(completion, to: isChanging ? .writes : .reads) }
        guard let ticket else { return watchQueue.async { completion([]) } }
        if ticket.startsTicks { scheduleTick() }
        let number = ticket.number
        guard isChanging else { return readQueue.async { self.answer(number, key, opening: mayAnswer) } }
        enqueue { [self] in
            let turn = takeTurn { $0.moveOn(number) }
            turn.completion?([])
            if turn.isAwaited { readQueue.async { self.answer(number, key, opening: mayAnswer) } }
        }
    }

    /// Runs work when all writes that were requested before have been made, or when that takes too long.
    ///
    /// `work` is called once, on a queue of the store, and must not wait. It does not wait longer than a look-up does, and
    /// not at all while the disk hangs.
    package func afterWrites(_ work: @escaping @Sendable () -> Void) {
        guard let ticket = lookUps.withLock({ $0.addWait { _ in work() } }) else { return watchQueue.async { work() } }
        if ticket.startsTicks { scheduleTick() }
        writeQueue.async { self.takeTurn { $0.endWait(ticket.number) }.completion?([]) }
    }

    /// Makes a look-up, unless it was given up meanwhile.
    ///
    /// Call it on the read queue.
    private func answer(_ number: Int, _ key: RequestKey, opening mayAnswer: (StoredHead) -> Bool) {
        dispatchPrecondition(condition: .onQueue(readQueue))
        guard takeTurn({ $0.begin(number) }).isAwaited else { return }
        let found = find(key, opening: mayAnswer)
        takeTurn { $0.end(number, found.outcome) }.completion?(found.responses)
    }

    private func takeTurn(_ change: (inout LookUps) -> LookUps.Turn) -> LookUps.Turn {
        lookUps.withLock { lookUps in
            let turn = change(&lookUps)
            // The event is queued under the lock; otherwise it could change places with the event of a tick.
            if turn.hasRecovered { watchQueue.async { self.reportAnswer() } }
            return turn
        }
    }

    private func reportAnswer() {
        state.withLock { $0.condition.hanging = nil }
        // A store that does not work for another reason has reported it, and reports when it works again.
        if case .unavailable = state.withLock({ $0.availability }) { return }
        report(StoreEvent(.recovered, count: 0, detail: "\(layout.root): the disk answers again"))
    }

    private func scheduleTick() {
        environment.afterDelay(watchQueue, environment.lookUpInterval) { [weak self] in self?.tick() }
    }

    private func tick() {
        let goesOn = lookUps.withLock { lookUps in
            let tick = lookUps.tick()
            // The event is queued under the lock, so that events keep their order.
            if !tick.givenUp.isEmpty { watchQueue.async { self.giveUp(tick) } }
            return tick.goesOn
        }
        if goesOn { scheduleTick() }
    }

    private func giveUp(_ tick: LookUps.Tick) {
        if tick.startsHanging {
            let detail = """
                \(layout.root): the disk does not answer; look-ups that would wait for it find nothing, and nothing new \
                is stored, until it does
                """
            let event = StoreEvent(.unavailable, count: 0, detail: detail)
            state.withLock { $0.condition.hanging = event }
            report(event)
        }
        for completion in tick.givenUp { completion([]) }
    }
}

/// A removal that fails leaves responses on disk that must not be returned any more.
///
/// Until such a removal is completed, look-ups treat its responses as not stored, and the store makes no other change:
/// so every change that succeeds comes after all removals that were requested before it. The removal is tried again
/// before each change, when the store opens, every 30 s, and before the process exits.
extension ResponseStore {
    /// Makes the removals that have failed before.
    ///
    /// Call it on the write queue.
    func completeFailedRemovals(in opened: Opened) throws {
        dispatchPrecondition(condition: .onQueue(writeQueue))
        for scope in resident.failedRemovals {
            _ = try removeRows(.scope(scope), in: opened)
            resident.didRemove(scope)
        }
        try writeFailedPurges(in: opened)
    }

    /// Schedules another attempt to make the removals that have failed.
    func scheduleFailedRemovals() {
        let isFirst = state.withLock { state in
            defer { state.awaitsRemovals = true }
            return !state.awaitsRemovals
        }
        guard isFirst else { return }
        environment.afterDelay(writeQueue, Self.retryInterval) { [weak self] in
            guard let self else { return }
            writeQueue.async {
                self.state.withLock { $0.awaitsRemovals = false }
                self.attemptFailedRemovals()
            }
        }
    }

    /// Makes the removals that have failed before, and schedules another attempt if they fail again.
    ///
    /// Call it on the write queue.
    func attemptFailedRemovals() {
        dispatchPrecondition(condition: .onQueue(writeQueue))
        guard !resident.failedRemovals.isEmpty || !purges.failed.isEmpty else { return }
        // Every change begins with them.
        if case .failure = attempt("removing", { _ in 0 }) { scheduleFailedRemovals() }
    }
}

/// The current problems of a store: the events of problems that have not passed since.
struct StoreCondition: Sendable {
    /// The index had to be replaced by a new one in this run.
    var replacedIndex: StoreEvent?
    /// The store cannot be opened.
    var closed: StoreEvent?
    /// The disk does not answer.
    var hanging: StoreEvent?
    /// The disk was full at the last write to it.
    var full: StoreEvent?

    /// The events that apply now; `isPaused` is whether writes are paused because the disk was full.
    func events(isPaused: Bool) -> [StoreEvent] {
        [replacedIndex, closed, hanging, isPaused ? full : nil].compactMap(\.self)
    }
}
