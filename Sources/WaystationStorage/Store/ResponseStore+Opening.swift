import Foundation
import Synchronization
import WaystationCaching
import WaystationFileSystem

extension ResponseStore {
    /// Opens the store, or records that it does not work.
    ///
    /// Call it on the write queue.
    ///
    /// - Parameter damaged: The index that was found damaged while it was open.
    func open(replacing damaged: StoreIndex? = nil) {
        do {
            let fileSystem = environment.fileSystem
            try layout.claim(fileSystem)
            let index = try openIndex(replacing: damaged)
            let staging = try StagingDirectory(in: layout.staging, fileSystem: fileSystem)
            try measureSetAside()
            let version = try index.dataVersion()
            let time = now()
            let wasUnavailable = state.withLock { state in
                defer {
                    state.placeCheckedAt = time
                    state.availability = .open(Opened(index: index, staging: staging))
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
            schedule([.keys, .recount, .leftOvers, .orphans, .expiry, .eviction, .rest])
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
                    return try StoreIndex(path: layout.index, environment: environment, budget: budget)
                } catch  where StoreFailure(error) == .damaged {
                    reason = "\(error)"
                }
            }
            try moveIndexAside(reason)
            return try StoreIndex(path: layout.index, environment: environment, budget: budget)
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
                return try StoreIndex(path: layout.index, environment: environment, budget: budget)
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
        let time = now()
        guard let opened = opened() else { return resident.confirm(at: nil, hasChanged: true) }
        do {
            let version = try opened.index.dataVersion()
            let hasChanged = state.withLock { state in
                defer { state.dataVersion = version }
                return state.dataVersion != version
            }
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
