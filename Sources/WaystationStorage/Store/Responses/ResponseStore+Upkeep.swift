import Foundation
import Synchronization
import WaystationHTTP

/// Maintenance work of the store: one step at a time on the write queue, so that writes can come in between.
struct Upkeep: Sendable {
    enum Job: Hashable, Sendable {
        /// Write the recorded times of last use to the index.
        case uses
        /// Read the keys that are stored, so that most misses need no query.
        case keys
        /// Correct the totals so that they equal the sum over the rows.
        case recount
        /// Remove body files that no row names, in every directory below `bodies/`.
        case orphans
        /// Remove such body files in one of these directories.
        case orphansIn(String)
        /// Remove responses that are too old.
        case expiry
        /// Begin to remove responses that were purged.
        case purged
        /// Continue to remove them after this row; at the end, the purges up to this number are done.
        case purgedStep(after: Int64, through: Int64)
        /// Start eviction down to the low-water mark if the store is over its limit.
        case eviction
        /// Continue evicting until the low-water mark is reached.
        case evictionStep
        /// Return free pages to the file system.
        case vacuum
        /// Bring the directory to its size at rest.
        case rest
    }

    var jobs: [Job] = []
    var isRunning = false
    var lastExpiry = Date.distantPast
    /// Whether a clean-up is already scheduled.
    var awaitsCleanUp = false

    /// The delay, in seconds, after which an idle store checks for responses that are too old: the time until its
    /// oldest response expires, but at least 10 s.
    ///
    /// The delay is at most 60 s, because the clock may be set meanwhile.
    static func delay(untilExpiry seconds: TimeInterval) -> TimeInterval { min(max(seconds, 10), 60) }
}

extension ResponseStore {
    /// The number of rows removed in one step.
    static let stepSize = 64

    /// How often the age of responses is checked, in seconds; look-ups never return expired responses in any case.
    private static let expiryInterval: TimeInterval = 60

    /// How long uses are collected before they are written, in seconds.
    private static let usesInterval: TimeInterval = 60

    /// Schedules jobs, each once even if it was requested several times.
    func schedule(_ jobs: [Upkeep.Job]) {
        let mustStart = state.withLock { state in
            for job in jobs where !state.upkeep.jobs.contains(job) { state.upkeep.jobs.append(job) }
            defer { state.upkeep.isRunning = true }
            return !state.upkeep.isRunning
        }
        if mustStart { enqueue { self.runUpkeepStep() } }
    }

    /// Schedules the upkeep that a commit requires.
    func scheduleUpkeep(_ space: StoreIndex.Space) {
        let time = now()
        if isOverLimit(space) { schedule([.eviction]) }
        if space.allocated > allocationLimit { schedule([.vacuum]) }
        let isDue = state.withLock { abs(time.timeIntervalSince($0.upkeep.lastExpiry)) > Self.expiryInterval }
        if isDue { schedule([.expiry]) }
    }

    private func runUpkeepStep() {
        let job = state.withLock { state -> Upkeep.Job? in
            if state.upkeep.jobs.isEmpty {
                state.upkeep.isRunning = false
                return nil
            }
            return state.upkeep.jobs.removeFirst()
        }
        guard let job else { return }
        if let opened = openedInPlace() {
            do {
                let followUps = try run(job, in: opened)
                state.withLock { state in
                    for job in followUps where !state.upkeep.jobs.contains(job) { state.upkeep.jobs.append(job) }
                }
            } catch {
                handle(error, in: opened, while: "doing upkeep (\(job))")
                if job == .expiry { scheduleCleanUp(untilExpiry: .infinity) }
                if job == .rest { noteChange(restAfter: Self.retryInterval) }
            }
        }
        enqueue { self.runUpkeepStep() }
    }

    /// Does one step of a job.
    ///
    /// - Returns: The jobs to do next.
    private func run(_ job: Upkeep.Job, in opened: Opened) throws -> [Upkeep.Job] {
        switch job {
        case .uses:
            try writeUses(in: opened)
            return []
        case .keys:
            try opened.index.learnKeys()
            return []
        case .recount:
            try opened.index.recount()
            return []
        case .orphans:
            return try environment.fileSystem.contents(of: layout.bodies)
                .filter(BodyName.isShard)
                .map { .orphansIn($0) }
        case .orphansIn(let shard):
            let count = try sweepOrphans(in: shard, opened)
            reportSwept(count, "body files that no response names")
            return []
        case .expiry:
            return try expire(in: opened)
        case .purged:
            return beginRemovingPurged()
        case .purgedStep(let row, let purge):
            return try removePurged(after: row, through: purge, in: opened)
        case .eviction:
            try writeUses(in: opened)
            try countStaged()
            return isOverLimit(try opened.index.space()) ? [.evictionStep] : []
        case .evictionStep:
            try countStaged()
            return [try evict(downTo: lowWater(of: budget), in: opened) ? .evictionStep : .vacuum]
        case .vacuum:
            try countStaged()
            return try opened.index.vacuumStep(exceeding: allocationLimit) ? [.vacuum] : []
        case .rest:
            return try rest(in: opened) ? [.rest] : []
        }
    }

    private func expire(in opened: Opened) throws -> [Upkeep.Job] {
        let time = now()
        state.withLock { $0.upkeep.lastExpiry = time }
        let limit = time.addingTimeInterval(-limits.maximumAge.inSeconds)
        let removal = try opened.index.removeStep(.older(than: limit), limit: Self.stepSize)
        finish(removal, in: opened)
        if removal.count > 0 {
            let detail = "\(removal.count) responses, \(removal.bytes) bytes, older than \(limits.maximumAge)"
            report(StoreEvent(.expired, count: removal.count, bytes: removal.bytes, detail: detail))
        }
        if removal.isPartial { return [.expiry] }
        try awaitCleanUp(in: opened)
        return removal.count > 0 ? [.purged, .vacuum] : []
    }

    /// Schedules the removal of responses that become too old while the store is idle; for an empty store it schedules
    /// nothing.
    ///
    /// Call it on the write queue.
    func awaitCleanUp(in opened: Opened) throws {
        dispatchPrecondition(condition: .onQueue(writeQueue))
        guard limits.hasMaximumAge, state.withLock({ !$0.upkeep.awaitsCleanUp }) else { return }
        guard let oldest = try opened.index.oldestResponseTime() else { return }
        scheduleCleanUp(untilExpiry: limits.maximumAge.inSeconds - now().timeIntervalSince(oldest))
    }

    /// Schedules a clean-up, unless one is already scheduled.
    ///
    /// A clean-up that failed, because the disk was full or another process held the index for too long, must be
    /// followed by another one: an idle store has no other occasion.
    private func scheduleCleanUp(untilExpiry seconds: TimeInterval) {
        guard limits.hasMaximumAge else { return }
        let isFirst = state.withLock { state in
            defer { state.upkeep.awaitsCleanUp = true }
            return !state.upkeep.awaitsCleanUp
        }
        guard isFirst else { return }
        environment.afterDelay(writeQueue, Upkeep.delay(untilExpiry: seconds)) { [weak self] in
            guard let self else { return }
            writeQueue.async { self.cleanUp() }
        }
    }

    private func cleanUp() {
        state.withLock { $0.upkeep.awaitsCleanUp = false }
        // The next opening starts with a clean-up of its own.
        guard let opened = opened() else { return }
        do {
            guard let oldest = try opened.index.oldestResponseTime() else { return }
            if isExpired(oldest, at: now()) { schedule([.expiry]) } else { try awaitCleanUp(in: opened) }
        } catch {
            handle(error, in: opened, while: "looking for expired responses")
            scheduleCleanUp(untilExpiry: .infinity)
        }
    }

    /// Removes the body files in a shard that no row names.
    ///
    /// - Returns: How many files were removed.
    func sweepOrphans(in shard: String, _ opened: Opened) throws -> Int {
        let fileSystem = environment.fileSystem
        let directory = "\(layout.bodies)/\(shard)"
        // The sweep looks only at files with names that the store assigns.
        let names = { try fileSystem.contents(of: directory).filter { BodyName("\(shard)/\($0)") != nil } }
        let count = try opened.index.removeOrphans(among: names, shard: shard) {
            try fileSystem.removeFile("\(layout.bodies)/\($0)")
        }
        state.withLock { state in
            for name in state.space.unremoved.keys where name.shard == shard { state.space.unremoved[name] = nil }
        }
        return count
    }

    func reportSwept(_ count: Int, _ what: String) {
        guard count > 0 else { return }
        report(StoreEvent(.swept, count: count, detail: "\(count) \(what) were removed"))
    }

    /// Schedules the writing of uses, so that they count when another process evicts responses.
    func awaitUses() {
        environment.afterDelay(writeQueue, Self.usesInterval) { [weak self] in
            guard let self else { return }
            state.withLock { $0.awaitsUses = false }
            schedule([.uses])
        }
    }

    func writeUses(in opened: Opened) throws {
        let uses = state.withLock { state in
            defer { state.uses = [:] }
            return state.uses
        }
        try opened.index.touch(uses, at: now())
        if !uses.isEmpty { noteChange() }
    }

    /// Waits on the write queue until there is no upkeep left, then resumes the continuation.
    ///
    /// Call it on the write queue.
    func finishFlush(_ continuation: CheckedContinuation<Void, Never>) {
        dispatchPrecondition(condition: .onQueue(writeQueue))
        if state.withLock({ !$0.uses.isEmpty }), opened() != nil { schedule([.uses]) }
        guard state.withLock({ $0.upkeep.isRunning }) else { return continuation.resume() }
        enqueue { self.finishFlush(continuation) }
    }
}

extension ResponseStore {
    /// Opens the store, or records that it does not work.
    ///
    /// Call it on the write queue.
    ///
    /// - Parameter damaged: The index that was found damaged while it was open.
    func open(replacing damaged: StoreIndex? = nil) {
        dispatchPrecondition(condition: .onQueue(writeQueue))
        do {
            let fileSystem = environment.fileSystem
            try layout.claim(fileSystem)
            let index = try openIndex(replacing: damaged)
            // The first look-up finds what a process that was killed has left.
            let count = try StagingDirectory.removeLeftOvers(in: layout.staging, fileSystem) {
                salvage($0, into: index)
            }
            reportSwept(count, "staging directories of processes that ended")
            let staging = try StagingDirectory(in: layout.staging, fileSystem: fileSystem)
            try measureSetAside()
            let version = try index.dataVersion()
            let time = now()
            let wasUnavailable = state.withLock { state in
                defer {
                    state.placeCheckedAt = time
                    state.availability = .open(
                        Opened(
                            index: index,
                            staging: staging,
                            renewals: RenewalLocks(layout.renewalLock, environment.fileSystem)
                        )
                    )
                    state.dataVersion = version
                    state.condition.closed = nil
                }
                if case .unavailable = state.availability { return true }
                return false
            }
            resident.invalidateAll()
            resident.confirm(at: now(), hasChanged: true)
            if wasUnavailable { report(StoreEvent(.recovered, detail: "\(layout.root) is open")) }
            attemptFailedRemovals()
            schedule([.keys, .recount, .orphans, .expiry, .purged, .eviction, .rest])
        } catch {
            let retryTime = now().addingTimeInterval(Self.retryInterval)
            let event = StoreEvent(
                .unavailable,
                count: 0,
                detail: "\(layout.root) cannot be opened and nothing is stored for a while: \(error)"
            )
            state.withLock { state in
                state.availability = .unavailable(until: retryTime)
                state.condition.closed = event
            }
            resident.invalidateAll()
            resident.confirm(at: nil, hasChanged: true)
            report(event)
        }
    }

    private func openIndex(replacing damaged: StoreIndex?) throws -> StoreIndex {
        var reason = "the index was found damaged while it was in use"
        if damaged == nil {
            do {
                return try openExistingIndex()
            } catch  where StoreFailure(error) == .damaged {
                reason = "\(error)"
            }
        }
        guard let lock = try environment.fileSystem.lock(layout.recoveryLock) else {
            throw StoreError(.unavailable, "another process is replacing the index")
        }
        return try withExtendedLifetime(lock) {
            // Another process may have replaced the index before this one got the lock.
            if try damaged == nil || environment.fileSystem.identity(of: layout.index) != damaged?.identity {
                do {
                    return try StoreIndex(path: layout.index, environment: environment, budget: budget, purges: purges)
                } catch  where StoreFailure(error) == .damaged {
                    reason = "\(error)"
                }
            }
            try moveIndexAside(reason)
            return try StoreIndex(path: layout.index, environment: environment, budget: budget, purges: purges)
        }
    }

    /// Opens the index, waiting for other processes that open it too.
    ///
    /// While one process switches a new index to WAL mode, SQLite returns `SQLITE_BUSY` to others without calling its
    /// busy handler.
    private func openExistingIndex() throws -> StoreIndex {
        let deadline = ContinuousClock.now + .seconds(environment.busyTimeout)
        while true {
            do {
                return try StoreIndex(path: layout.index, environment: environment, budget: budget, purges: purges)
            } catch  where StoreFailure(error) == .busy && ContinuousClock.now < deadline {
                Thread.sleep(forTimeInterval: 0.005)
            }
        }
    }

    /// Moves the damaged index aside, so that it can be examined, and makes room for a new one; only the last damaged
    /// index is kept.
    private func moveIndexAside(_ reason: String) throws {
        let fileSystem = environment.fileSystem
        let prefix = StoreLayout.setAside
        let numbers = try fileSystem.contents(of: layout.root).compactMap { name in
            name.hasPrefix(prefix) ? Int(name.dropFirst(prefix.count)) : nil
        }
        // The log of the old index is removed first, since SQLite would apply a left-over log to the new index.
        for suffix in ["-wal", "-shm"] { try fileSystem.removeFile(layout.index + suffix) }
        let number = (numbers.max() ?? 0) % 1_000_000 + 1
        if try fileSystem.identity(of: layout.index) != nil {
            try fileSystem.rename(layout.index, to: "\(layout.root)/\(prefix)\(number)")
        }
        for old in numbers where old != number { try fileSystem.removeFile("\(layout.root)/\(prefix)\(old)") }
        let event = StoreEvent(
            .damaged,
            count: 0,
            detail: "the index was moved to \(prefix)\(number) and replaced by a new one: \(reason)"
        )
        state.withLock { $0.condition.replacedIndex = event }
        report(event)
    }

    /// The parts of the open store, or `nil` while the store does not work.
    ///
    /// Starts another attempt to open the store when one is due.
    func opened() -> Opened? {
        let time = now()
        let (opened, isDue) = state.withLock { state -> (Opened?, Bool) in
            switch state.availability {
            case .open(let opened): return (opened, false)
            case .opening: return (nil, false)
            case .unavailable(let retryTime):
                guard Self.isDue(retryTime, at: time) else { return (nil, false) }
                state.availability = .unavailable(until: time.addingTimeInterval(Self.retryInterval))
                return (nil, true)
            }
        }
        if isDue { writeQueue.async { self.open() } }
        return opened
    }

    /// Whether the time has come to try again.
    ///
    /// A time that is further ahead than the store ever waits was chosen before the clock was set back. One second is
    /// added because times are rounded.
    static func isDue(_ retryTime: Date, at time: Date) -> Bool {
        time >= retryTime || retryTime.timeIntervalSince(time) > retryInterval + 1
    }

    /// The error of operations that are refused because the store does not work.
    var isUnavailable: StoreError {
        let reason = state.withLock { $0.condition.closed?.detail } ?? "see the store's events for the reason"
        return StoreError(.unavailable, "the store does not work: \(reason)")
    }

    /// The error of a write that cannot begin, because the store does not work or writes are paused.
    package var refusesWrites: StoreError {
        guard let problem = condition.last(where: { $0.kind != .damaged }) else { return isUnavailable }
        return StoreError(problem.kind == .full ? .full : .unavailable, "nothing can be stored now: \(problem.detail)")
    }

    func acceptsWrites(at time: Date) -> Bool {
        if opened() != nil { return state.withLock { Self.isDue($0.writesPausedUntil, at: time) } }
        // While the store opens for the first time, writes wait behind the opening on the queue.
        return state.withLock { if case .opening = $0.availability { true } else { false } }
    }

    /// Takes the action that an error requires and reports it.
    ///
    /// - Returns: The error as a ``StoreError``.
    @discardableResult
    func handle(_ error: any Error, in opened: Opened?, while task: String, key: RequestKey? = nil) -> StoreError {
        let detail = "while \(task): \(error)"
        if let error = error as? StoreError, error.code == .tooLarge {
            report(StoreEvent(.tooLarge, key: key, detail: "nothing is stored \(detail)"))
            return error
        }
        switch StoreFailure(error) {
        case .damaged:
            if let opened { writeQueue.async { self.replace(opened, isDamaged: true) } }
            return StoreError(.damaged, "the index is damaged and will be replaced by a new one", cause: error)
        case .moved:
            if let opened { writeQueue.async { self.replace(opened, isDamaged: false) } }
            return StoreError(.unavailable, "the index was moved away", cause: error)
        case .full:
            let time = now()
            let advice = "nothing is stored for \(Int(Self.retryInterval)) s; free some space"
            let event = StoreEvent(.full, key: key, count: 0, detail: "\(advice) (\(detail))")
            let isNew = state.withLock { state in
                defer { state.writesPausedUntil = time.addingTimeInterval(Self.retryInterval) }
                state.condition.full = event
                return Self.isDue(state.writesPausedUntil, at: time)
            }
            if isNew { report(event) }
            return StoreError(.full, "the disk is full; \(advice)", cause: error)
        case .busy:
            report(StoreEvent(.unavailable, key: key, detail: "another process held the index for too long \(detail)"))
            return StoreError(.unavailable, "another process held the index for too long", cause: error)
        case .other:
            report(StoreEvent(.unavailable, key: key, detail: detail))
            return StoreError(.unavailable, "the store failed while \(task)", cause: error)
        }
    }

    /// Closes an index and opens what is there now, or a new one.
    ///
    /// Call it on the write queue.
    func replace(_ failed: Opened, isDamaged: Bool) {
        dispatchPrecondition(condition: .onQueue(writeQueue))
        // Several operations may have found the same damage.
        guard let current = opened(), current.index === failed.index else { return }
        state.withLock { $0.availability = .opening }
        failed.index.close()
        open(replacing: isDamaged ? failed.index : nil)
    }

    /// Finds out whether another process has changed the index since the last check.
    ///
    /// Call it on the write queue.
    func checkForOtherProcesses() {
        dispatchPrecondition(condition: .onQueue(writeQueue))
        let time = now()
        guard let opened = opened() else { return resident.confirm(at: nil, hasChanged: true) }
        do {
            let version = try opened.index.dataVersion()
            let hasChanged = state.withLock { state in
                defer { state.dataVersion = version }
                return state.dataVersion != version
            }
            if hasChanged { try opened.index.learnPurges() }
            // Another process may have found the index damaged and replaced it; or the directory was removed.
            let isSameFile = try environment.fileSystem.identity(of: layout.index) == opened.index.identity
            resident.confirm(at: time, hasChanged: hasChanged || !isSameFile)
            if !isSameFile { replace(opened, isDamaged: false) }
        } catch {
            resident.confirm(at: nil, hasChanged: true)
            handle(error, in: opened, while: "checking for changes of other processes")
        }
    }
}
