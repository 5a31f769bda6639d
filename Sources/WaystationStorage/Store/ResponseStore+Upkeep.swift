import Foundation
import Synchronization
import WaystationFields
import WaystationFileSystem

/// Maintenance work of the store: one step at a time on the write queue, so that writes can come in between.
struct Upkeep: Sendable {
    enum Job: Hashable, Sendable {
        /// Write the recorded times of last use to the index.
        case uses
        /// Read the keys that are stored, so that most misses need no query.
        case keys
        /// Correct the totals so that they equal the sum over the rows.
        case recount
        /// Remove the staging directories of processes that ended.
        case leftOvers
        /// Remove body files that no row names, in every directory below `bodies/`.
        case orphans
        /// Remove such body files in one of these directories.
        case orphansIn(String)
        /// Remove responses that are too old.
        case expiry
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
        case .leftOvers:
            let count = try StagingDirectory.removeLeftOvers(in: layout.staging, environment.fileSystem)
            reportSwept(count, "staging directories of processes that ended")
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
        return removal.count > 0 ? [.vacuum] : []
    }

    /// Schedules the removal of responses that become too old while the store is idle; for an empty store it schedules
    /// nothing.
    ///
    /// Call it on the write queue.
    func awaitCleanUp(in opened: Opened) throws {
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
        if state.withLock({ !$0.uses.isEmpty }), opened() != nil { schedule([.uses]) }
        guard state.withLock({ $0.upkeep.isRunning }) else { return continuation.resume() }
        enqueue { self.finishFlush(continuation) }
    }
}
