import Foundation
import Synchronization

/// The directory of a store stays within its size because room is made before anything is written.
///
/// Each process evicts before its own writes, by what the index says of the responses of all processes, and by the
/// staging files of all processes. What counts is the directory at rest: the pages of the index that are in use and the
/// files. Free pages are used again; they are returned to the file system if index and files are too large together.
extension ResponseStore {
    /// How long after a change the log of the index is emptied, in seconds.
    static let restInterval: TimeInterval = 5

    /// How long an emptying of the log at rest waits for readers, in seconds; writes of all processes wait meanwhile.
    private static let readersTimeout = 0.05

    /// How often room is made for one write before it is given up.
    private static let evictionRounds = 4

    /// Bytes that are about to be written.
    enum Writing: Sendable {
        /// Rows of the index.
        case rows
        /// The beginning of a large body, or more of it.
        ///
        /// Bodies that have begun may use all the room for incomplete bodies, and others begin only while half of it is
        /// free: otherwise many bodies at a time would use up the room before one of them is complete.
        case firstPart, furtherPart
    }

    /// Evicts responses until the directory has room for some bytes.
    ///
    /// Call it on the write queue.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes that are about to be written.
    ///   - writing: What they are.
    ///   - opened: The open store.
    /// - Throws: `StoreError` with ``StoreError/Code/tooLarge`` if there is no room, because of other bodies that are
    ///   being written or of files that could not be removed; or an error of the disk. Nothing must be written then.
    func makeRoom(for bytes: Int, of writing: Writing = .rows, in opened: Opened) throws {
        dispatchPrecondition(condition: .onQueue(writeQueue))
        var other = state.withLock(\.space)
        func isBeyondStaging() -> Bool {
            switch writing {
            case .rows: false
            case .firstPart: other.staged > budget.staged / 2 || other.staged + bytes > budget.staged
            case .furtherPart: other.staged + bytes > budget.staged
            }
        }
        if other.stagedSinceCount > budget.step || isBeyondStaging() { other = try countStaged() }
        var space = try opened.index.space()
        for round in 0..<Self.evictionRounds {
            guard space.used + other.total + bytes > budget.directory, !isBeyondStaging() else { break }
            // The bytes of bodies that were completed or dropped since the last count are still in it.
            other = try countStaged()
            if space.used + other.total + bytes > budget.directory, other.setAside > 0 {
                try removeSetAside()
                other.setAside = 0
            }
            // Other processes may use the room that an eviction has made: then the next one makes more.
            let target = (bytes: Int.max, used: budget.directory - other.total - bytes - round * budget.step)
            // Eviction cannot make room beside files that take all of it.
            if space.used > target.used, target.used > 0 {
                try writeUses(in: opened)
                while try evict(downTo: target, in: opened) {}
                // Eviction goes on to the low-water mark between the writes.
                schedule([.evictionStep])
                space = try opened.index.space()
                other = state.withLock(\.space)
            }
        }
        guard space.used + other.total + bytes <= budget.directory, !isBeyondStaging() else {
            let detail = """
                the store has no room for \(bytes) more bytes: \(other.staged) bytes of other bodies are being written, \
                and \(other.unremoved.count) files could not be removed
                """
            throw StoreError(.tooLarge, detail)
        }
        try stayBelowPeak(space, other, bytes, in: opened)
    }

    /// Makes the log and the index smaller if they are about to take too much, and throws if that is not possible.
    ///
    /// The log is measured each time: it grows by whole pages, several for each row, and by what other processes write.
    private func stayBelowPeak(
        _ space: StoreIndex.Space,
        _ other: OtherSpace,
        _ bytes: Int,
        in opened: Opened
    ) throws {
        let rest = other.total + space.files + bytes
        var canShrink = true
        while true {
            let size = try indexSize()
            guard size + rest > budget.peak else { return }
            guard canShrink else {
                let detail = """
                    the index and its log take \(size) bytes and cannot be made smaller, because another process reads \
                    them without a pause
                    """
                throw StoreError(.unavailable, detail)
            }
            // The log first: returning pages to the file system makes it longer.
            canShrink =
                try opened.index.emptyLog(waiting: environment.logTimeout)
                && opened.index.vacuumStep(exceeding: budget.directory - other.total)
        }
    }

    /// The bytes of the index and its log.
    private func indexSize() throws -> Int {
        try ["", "-wal"].reduce(0) { try $0 + (environment.fileSystem.status(of: layout.index + $1)?.size ?? 0) }
    }

    /// Counts the bytes in the staging files of all processes.
    ///
    /// Until then, those of files that were removed meanwhile count as well.
    @discardableResult
    func countStaged() throws -> OtherSpace {
        let count = try stagedBytes()
        return state.withLock { state in
            (state.space.staged, state.space.stagedSinceCount) = (count, 0)
            return state.space
        }
    }

    private func stagedBytes() throws -> Int {
        let fileSystem = environment.fileSystem
        var count = 0
        for directory in try fileSystem.contents(of: layout.staging) where RandomName.isPossible(directory) {
            for name in try fileSystem.contents(of: "\(layout.staging)/\(directory)") {
                count += try fileSystem.status(of: "\(layout.staging)/\(directory)/\(name)")?.blocks ?? 0
            }
        }
        return count
    }

    /// Removes some of the least recently used responses.
    ///
    /// - Returns: Whether another step is needed.
    func evict(downTo target: (bytes: Int, used: Int), in opened: Opened) throws -> Bool {
        let (removal, isDone) = try opened.index.evictStep(downTo: target, limit: Self.stepSize, at: now())
        finish(removal, in: opened)
        if removal.count > 0 {
            let detail = "\(removal.count) responses, \(removal.bytes) bytes, least recently used"
            report(StoreEvent(.evicted, count: removal.count, bytes: removal.bytes, detail: detail))
        }
        return !isDone
    }

    /// The sizes down to which eviction goes; bodies that are being written must not evict more than their own size.
    func lowWater(of budget: DiskBudget) -> (bytes: Int, used: Int) {
        let other = state.withLock(\.space)
        let low = budget.lowWater
        return (low.responses, min(low.directory - other.total + other.staged, budget.directory - other.total))
    }

    /// Whether the responses, or the directory at rest, take more than the limit.
    func isOverLimit(_ space: StoreIndex.Space) -> Bool {
        space.bytes > budget.responses || space.used + state.withLock(\.space.total) > budget.directory
    }

    /// The size down to which free pages are returned to the file system.
    var allocationLimit: Int { budget.directory - state.withLock(\.space.total) }

    // MARK: - Rest

    /// Notes a change of the index, so that its log is emptied soon after.
    ///
    /// - Parameter delay: How long after, in seconds.
    func noteChange(restAfter delay: TimeInterval = restInterval) {
        let isFirst = state.withLock { state in
            defer { state.awaitsRest = true }
            return !state.awaitsRest
        }
        guard isFirst else { return }
        environment.afterDelay(writeQueue, delay) { [weak self] in
            guard let self else { return }
            writeQueue.async { self.rest() }
        }
    }

    private func rest() {
        state.withLock { $0.awaitsRest = false }
        // The next opening ends with a rest of its own.
        guard let opened = openedInPlace() else { return }
        do {
            // Most of the time one step is enough, and no job that waits for gathered writes is needed.
            if try rest(in: opened) { schedule([.rest]) }
        } catch {
            handle(error, in: opened, while: "bringing the directory to its size")
            noteChange(restAfter: Self.retryInterval)
        }
    }

    /// Does one step of bringing the directory to its size at rest.
    ///
    /// - Returns: Whether another step is needed.
    func rest(in opened: Opened) throws -> Bool {
        let sweep = Result { try sweepUnremoved(in: opened) }
        let other = try countStaged()
        let space = try opened.index.space()
        if space.used + other.total > budget.directory, other.setAside > 0 {
            try removeSetAside()
            return true
        }
        if isOverLimit(space), try evict(downTo: lowWater(of: budget), in: opened) { return true }
        try removeEmptyDirectories(space.fileCount, in: opened)
        if try opened.index.vacuumStep(exceeding: allocationLimit) { return true }
        let log = try environment.fileSystem.status(of: layout.index + "-wal")?.size ?? 0
        // A reader of another process may keep the log from being emptied now.
        if log > 0, try !opened.index.emptyLog(waiting: Self.readersTimeout) { noteChange() }
        try sweep.get()
        return false
    }

    /// Tries again to remove the files that could not be removed.
    private func sweepUnremoved(in opened: Opened) throws {
        let names = state.withLock(\.space.unremoved.keys)
        for shard in Set(names.map(\.shard)) { _ = try sweepOrphans(in: shard, opened) }
    }

    // MARK: - Other files

    /// Removes directories of body files that are empty, if there are more directories than files.
    private func removeEmptyDirectories(_ fileCount: Int, in opened: Opened) throws {
        let shards = try environment.fileSystem.contents(of: layout.bodies).filter(BodyName.isShard)
        guard shards.count > fileCount else { return }
        try opened.index.removeDirectories {
            for shard in shards {
                do {
                    try environment.fileSystem.removeDirectory("\(layout.bodies)/\(shard)")
                } catch let error as FileError where [ENOTEMPTY, EEXIST].contains(error.code) {
                    // Bodies are in it.
                }
            }
        }
    }

    /// The damaged indices that were moved aside, as paths.
    private func pathsSetAside() throws -> [String] {
        try environment.fileSystem.contents(of: layout.root).filter { $0.hasPrefix(StoreLayout.setAside) }
            .map { "\(layout.root)/\($0)" }
    }

    /// Measures a damaged index that was moved aside.
    func measureSetAside() throws {
        let size = try pathsSetAside().reduce(0) { try $0 + (environment.fileSystem.status(of: $1)?.blocks ?? 0) }
        state.withLock { $0.space.setAside = size }
    }

    private func removeSetAside() throws {
        let paths = try pathsSetAside()
        for path in paths { try environment.fileSystem.removeFile(path) }
        state.withLock { $0.space.setAside = 0 }
        reportSwept(paths.count, "damaged indices that had been moved aside, whose space is needed,")
    }

    /// Removes a body that is not stored, and reports if that fails; its bytes count as long as they are there.
    func drop(_ spool: BodyStaging, in opened: Opened?) {
        do {
            try spool.discard()
        } catch {
            handle(error, in: opened, while: "removing a body that is not stored")
        }
    }

    /// The size of the directory.
    ///
    /// It is the sum of the index's files, of the body files that the index names and of the staging files, each as a
    /// multiple of 4,096 bytes, and of 4,096 bytes for each directory.
    func diskSize(_ space: StoreIndex.Space) throws -> Int {
        let fileSystem = environment.fileSystem
        let index = try ["", "-wal", "-shm"].reduce(0) {
            try $0 + (fileSystem.status(of: layout.index + $1)?.blocks ?? 0)
        }
        let directories =
            try 3 + [layout.staging, layout.bodies].reduce(0) { try $0 + fileSystem.contents(of: $1).count }
        let other = state.withLock(\.space)
        let kept = other.setAside + other.unremoved.values.reduce(0, +)
        return try index + space.fileBytes + stagedBytes() + kept + directories * FileStatus.blockSize
    }
}

extension FileStatus {
    /// The size of the blocks of almost all file systems.
    static let blockSize = 4_096

    /// The size as a multiple of ``blockSize``.
    var blocks: Int { (size + Self.blockSize - 1) / Self.blockSize * Self.blockSize }
}
