import Dispatch
import Foundation
import Synchronization
import WaystationHTTP

extension ResponseStore {
    /// Writes part of a large body to its staging file.
    func spool(_ data: Data, to spool: BodyStaging) {
        spooling.add(data.count, ordering: .relaxed)
        writeQueue.async { [self] in
            defer { spooling.subtract(data.count, ordering: .relaxed) }
            guard !spool.isDiscarded else { return }
            guard let opened = openedInPlace(), acceptsWrites(at: now()) else { return drop(spool, in: nil) }
            do {
                try write(data, to: spool, in: opened)
            } catch {
                drop(spool, in: opened)
                handle(error, in: opened, while: "writing a body")
            }
        }
    }

    /// Writes part of a body to its staging file, after it has made room for it.
    ///
    /// It is written in steps, and each makes room for what is left: other processes may have made room at the same time,
    /// and none of them knew of the others' bytes.
    private func write(_ data: Data, to spool: BodyStaging, in opened: Opened) throws {
        var rest = data
        repeat {
            try makeRoom(for: rest.count, of: spool.hasFile ? .furtherPart : .firstPart, in: opened)
            let step = rest.prefix(budget.step)
            state.withLock { $0.space.stage(step.count) }
            try spool.write(step, in: opened.staging)
            rest = rest.dropFirst(step.count)
        } while !rest.isEmpty
    }

    /// The number of bytes of large bodies that were handed over and wait for the disk.
    ///
    /// The number is 0 while the disk hangs: then nothing more is stored, and a caller that waited for these bytes
    /// would wait for as long as the disk hangs.
    package var unwrittenBytes: Int {
        let bytes = spooling.load(ordering: .relaxed)
        return bytes > 0 && lookUps.withLock({ $0.isHanging }) ? 0 : bytes
    }

    func discard(_ spool: BodyStaging) {
        writeQueue.async { self.drop(spool, in: nil) }
    }

    func reportTooLarge(_ key: RequestKey, length: Int) {
        let detail =
            "the body has at least \(length) bytes and the store accepts at most \(largestBody); "
            + "the response was not stored"
        report(StoreEvent(.tooLarge, key: key, bytes: length, detail: detail))
    }

    /// Makes a response visible.
    ///
    /// `rest` holds the bytes that were not spooled (all of a small body, the end of a large one); `length` is the
    /// length of the whole body. A response with a small body is gathered with other writes. A large one is not, since
    /// it has to wait for the disk by itself.
    func commit(
        _ head: StoredHead,
        rest: Data,
        length: Int,
        spool: BodyStaging,
        moment: StoreMoment,
        completion: @escaping @Sendable (Result<Int64, StoreError>) -> Void
    ) {
        resident.beginChanging(head.key)
        let finish = { @Sendable [self] (result: Result<Int64, StoreError>) in
            if case .success = result {
                state.withLock { $0.stored += 1 }
                report(StoreEvent(.stored, key: head.key, bytes: length, detail: "\(length) bytes"))
            }
            resident.endChanging(head.key)
            completion(result)
        }
        guard length > largestInlineBody(of: head) else {
            return handOver(
                GatheredWrite(task: "storing", key: head.key, bytes: length) { [self] () throws(StoreError) in
                    try admit(head, length: length, moment: moment)
                    let row = try row(head, length, nil, BlockChecksums(of: rest))
                    return .insert(row, body: rest, lastUsed: now())
                } finish: { result in
                    finish(
                        result.flatMap { id in
                            id.map { .success($0) } ?? .failure(StoreError(.unavailable, "no row was written"))
                        }
                    )
                }
            )
        }
        enqueue { [self] in
            let result = Result { () throws(StoreError) in
                try admit(head, length: length, moment: moment)
                return try publish(head, rest: rest, length: length, spool: spool)
            }
            if case .failure = result { drop(spool, in: nil) }
            finish(result)
        }
    }

    /// Checks whether a response may be stored now, and throws the reason if it may not.
    private func admit(_ head: StoredHead, length: Int, moment: StoreMoment) throws(StoreError) {
        guard !invalidations.hasInvalidated(head, since: moment.count) else {
            throw StoreError(.invalidated, "the response was invalidated while it arrived, and was not stored")
        }
        if let expected = head.contentLength, expected != length {
            let detail = "the body has \(length) bytes but \(expected) were announced; the response was not stored"
            report(StoreEvent(.truncated, key: head.key, bytes: length, detail: detail))
            throw StoreError(.truncated, detail)
        }
        guard opened() != nil else { throw isUnavailable }
        guard acceptsWrites(at: now()) else {
            throw StoreError(.full, "writes are paused because the disk is full")
        }
    }

    private func row(
        _ head: StoredHead,
        _ length: Int,
        _ bodyFile: String?,
        _ checksums: BlockChecksums
    ) throws(StoreError) -> EncodedRow {
        let row = EncodedRow(head, bodyLength: length, bodyFile: bodyFile, checksums: checksums)
        guard row.size <= budget.lowWater.responses else {
            reportTooLarge(head.key, length: row.size)
            throw StoreError(.tooLarge, "head and body together are larger than the store's total limit allows")
        }
        return row
    }

    private func publish(
        _ head: StoredHead,
        rest: Data,
        length: Int,
        spool: BodyStaging
    ) throws(StoreError) -> Int64 {
        guard let opened = openedInPlace() else { throw isUnavailable }
        do {
            try completeFailedRemovals(in: opened)
            let written = try publish(head, rest: rest, length: length, spool: spool, in: opened)
            finish(written, of: [head.key], in: opened)
            return written.result
        } catch let error as StoreError {
            throw error
        } catch {
            throw handle(error, in: opened, while: "storing", key: head.key)
        }
    }

    /// Completes a body file, then moves it to its place and adds its row in one transaction.
    ///
    /// If the store already has a file with the same body, both responses use that file, and the new one is removed.
    private func publish(
        _ head: StoredHead,
        rest: Data,
        length: Int,
        spool: BodyStaging,
        in opened: Opened
    ) throws -> StoreIndex.Written<Int64> {
        let fileSystem = environment.fileSystem
        // A body that was dropped has reported the reason.
        if !spool.isDiscarded {
            do {
                try write(rest, to: spool, in: opened)
            } catch let error as StoreError {
                throw handle(error, in: opened, while: "writing a body", key: head.key)
            }
        }
        guard let staged = try spool.finish(in: opened.staging), staged.length == length else {
            throw StoreError(.unavailable, "part of the body could not be written; see the store's events")
        }
        let name = staged.name
        // A file is not synchronised while the index is locked, since that takes as long as the disk does. A file found
        // now may be gone when the row is added.
        var isSynchronized = false
        if try !holds(name, length: length) {
            try spool.synchronize()
            isSynchronized = true
        }
        do {
            let row = try row(head, length, name.text, staged.checksums)
            let written = try opened.index.insert(row, lastUsed: now(), maximumVariants: limits.maximumVariants) {
                // A file of another length is damaged: the complete file replaces it, for all rows that name it.
                guard try !holds(name, length: length) else { return }
                if !isSynchronized { try spool.synchronize() }
                try fileSystem.createDirectory(layout.directory(of: name))
                try place(staged, of: spool)
                state.withLock { $0.space.unstage(length) }
            }
            drop(spool, in: opened)
            return written
        } catch {
            removeUnnamed([name.text], in: opened)
            throw error
        }
    }

    /// Moves a body to its place.
    ///
    /// A body with a record stays in the staging directory too until its row is on disk: if the process is killed before
    /// that, the body is found there by its record.
    private func place(_ staged: BodyStaging.Staged, of spool: BodyStaging) throws {
        let fileSystem = environment.fileSystem
        let destination = layout.path(of: staged.name)
        // A file system may have no links, and a damaged file at the destination must be replaced.
        if spool.hasRecord, (try? fileSystem.link(staged.path, as: destination)) != nil { return }
        try fileSystem.rename(staged.path, to: destination)
        spool.release()
    }

    /// Whether a body file exists with the right length; its bytes are not checked.
    private func holds(_ name: BodyName, length: Int) throws -> Bool {
        guard let status = try environment.fileSystem.status(of: layout.path(of: name)) else { return false }
        return status.kind == .file && status.size == length
    }

    /// Does the work that follows adding rows: removes the outdated responses of their keys from memory, and schedules
    /// upkeep.
    func finish<Result>(_ written: StoreIndex.Written<Result>, of keys: Set<RequestKey>, in opened: Opened) {
        resident.invalidate(keys)
        removeUnnamed(written.unnamed, in: opened)
        if opened.index.keys.isCrowded { schedule([.keys]) }
        noteChange()
        guard let space = written.space else { return }
        scheduleUpkeep(space)
        do {
            try awaitCleanUp(in: opened)
        } catch {
            handle(error, in: opened, while: "looking for expired responses")
        }
    }

    /// Removes the responses of removed rows from memory, and the files that no row names any more from the disk.
    func finish(_ removal: StoreIndex.Removal, in opened: Opened, alsoChanged key: RequestKey? = nil) {
        let keys = key.map { removal.keys.union([$0]) } ?? removal.keys
        if !keys.isEmpty {
            resident.invalidate(keys)
            opened.index.heads.removeAll()
        }
        if removal.count > 0 { noteChange() }
        removeUnnamed(removal.files, in: opened)
    }

    /// Counts body files that may not have been removed, until a sweep of their directories.
    private func noteUnremoved(_ names: [BodyName]) {
        var sizes: [BodyName: Int] = [:]
        for name in names { sizes[name] = (try? environment.fileSystem.status(of: layout.path(of: name)))?.blocks }
        state.withLock { $0.space.unremoved.merge(sizes) { $1 } }
    }

    /// Removes those of the body files that no row names.
    ///
    /// A file that stays because of an error or a kill is an orphan: it is removed soon or at the next opening. Until
    /// then, its size counts.
    private func removeUnnamed(_ files: [String], in opened: Opened) {
        let names = files.compactMap(BodyName.init)
        guard !names.isEmpty else { return }
        do {
            try opened.index.removeUnnamed(names.map(\.text)) { file in
                if let path = layout.body(file) { try environment.fileSystem.removeFile(path) }
            }
        } catch {
            noteUnremoved(names)
            schedule(Set(names.map(\.shard)).map { .orphansIn($0) })
        }
    }
}

/// Small writes are gathered, so that many share a transaction.
///
/// Gathered writes are not on the write queue yet. Every job that must come after them is queued with ``enqueue(_:)``,
/// which first takes the gathered writes and makes them part of the job. So everything happens in the order in which it
/// was requested.
extension ResponseStore {
    /// Makes a write soon, together with others.
    func handOver(_ write: GatheredWrite) {
        gather { $0.add(write, bytes: write.bytes) }
    }

    /// Runs a job on the write queue, after all work that was requested before.
    func enqueue(_ job: @escaping @Sendable () -> Void) {
        gathering.withLock { gathering in
            let due = gathering.take()
            gathering.jobWasQueued()
            // The job is queued under the lock; otherwise it could run before a write that was handed over earlier and
            // that another job took.
            writeQueue.async { [self] in
                _ = self.gathering.withLock { $0.jobBegins() }
                write(due, givesWay: false)
                job()
            }
        }
    }

    /// Makes the gathered writes at once, for a caller that waits for one of them.
    func writeGathered() {
        enqueue {}
    }

    private func gather(_ change: (inout WriteGathering<GatheredWrite>) -> WriteGathering<GatheredWrite>.Step) {
        let startsInterval = gathering.withLock { gathering in
            let step = change(&gathering)
            if step.due.isEmpty { return step.startsInterval }
            gathering.jobWasQueued()
            // The job is queued under the lock, so that jobs run in the order of the writes.
            writeQueue.async { [self] in
                let isLast = self.gathering.withLock { $0.jobBegins() }
                // A job that waits must not wait longer, and the writes of a busy process must not fall behind.
                write(step.due, givesWay: isLast)
            }
            return step.startsInterval
        }
        guard startsInterval else { return }
        // The closure retains the store, so the store lives until no gathered writes are left.
        environment.afterDelay(writeQueue, environment.writeInterval) { [self] in gather { $0.endInterval() } }
    }

    /// Makes writes in one transaction and passes each its result, in order.
    ///
    /// Call it on the write queue.
    ///
    /// - Parameters:
    ///   - writes: The writes.
    ///   - givesWay: Whether threads that wait for the processor run in between.
    private func write(_ writes: [GatheredWrite], givesWay: Bool) {
        dispatchPrecondition(condition: .onQueue(writeQueue))
        guard !writes.isEmpty else { return }
        let attempts = writes.map(Attempt.init)
        for (write, result) in zip(writes, make(attempts, givesWay: givesWay)) { write.finish(result) }
    }

    /// A write with its change of the index, or the error with which it was refused.
    private struct Attempt {
        let write: GatheredWrite
        let change: Result<RowChange, StoreError>

        init(_ write: GatheredWrite) {
            self.write = write
            change = Result { () throws(StoreError) in try write.prepare() }
        }

        var isAccepted: Bool { if case .success = change { true } else { false } }

        /// About the bytes that the change adds to the index: a body takes whole pages of it.
        var size: Int {
            switch change {
            case .success(.insert(let row, _, _)): row.size + StoreIndex.pageSize / 2
            case .success(.update): StoreIndex.pageSize / 2
            case .failure: 0
            }
        }

        /// The key that gets a new row.
        var addedKey: RequestKey? { if case .success(.insert) = change { write.key } else { nil } }

        /// The result for an error of the transaction; a write that was refused before keeps its refusal.
        func failed(_ error: @autoclosure () -> StoreError) -> Result<Int64?, StoreError> {
            change.flatMap { _ in .failure(error()) }
        }
    }

    private func make(_ attempts: [Attempt], givesWay: Bool = false) -> [Result<Int64?, StoreError>] {
        guard let opened = openedInPlace(), attempts.contains(where: \.isAccepted) else {
            return attempts.map { $0.failed(isUnavailable) }
        }
        do {
            try completeFailedRemovals(in: opened)
            try makeRoom(for: attempts.reduce(0) { $0 + $1.size }, in: opened)
            let written = try opened.index.write(
                attempts.map(\.change),
                maximumVariants: limits.maximumVariants,
                givesWay: givesWay
            )
            finish(written, of: Set(attempts.compactMap(\.addedKey)), in: opened)
            return written.result
        } catch  where attempts.count > 1 && StoreFailure(error) != .busy {
            // One of the gathered writes alone may be the cause of the failure. A transaction that waited for another
            // process in vain is not split, since each of its writes would wait again.
            return attempts.flatMap { make([$0]) }
        } catch {
            return attempts.map { $0.failed(handle(error, in: opened, while: $0.write.task, key: $0.write.key)) }
        }
    }
}

/// Writes that were handed over and are to be made together.
///
/// The first write after an idle period is due at once. Later writes wait for the end of the interval, or until there
/// are many or large ones; an interval in which no write came ends the gathering. It also counts the jobs of the write
/// queue that wait, because writes take their time only if no job does.
struct WriteGathering<Write: Sendable>: Sendable {
    /// The writes are due when there are this many.
    static var maximumCount: Int { 64 }
    /// The writes are due when they hold this many bytes.
    private let maximumBytes: Int

    private(set) var writes: [Write] = []
    private var bytes = 0
    private var isPaced = false
    /// The number of jobs on the write queue that have not begun.
    private var waiting = 0

    init(maximumBytes: Int = 4 << 20) { self.maximumBytes = maximumBytes }

    /// The caller's next steps after a write was added.
    struct Step: Sendable {
        /// The writes to make now, in order.
        var due: [Write] = []
        /// Whether an interval begins; ``endInterval()`` must be called at its end.
        var startsInterval = false
    }

    /// Adds a write.
    mutating func add(_ write: Write, bytes count: Int) -> Step {
        writes.append(write)
        bytes += count
        guard isPaced else {
            isPaced = true
            return Step(due: take(), startsInterval: true)
        }
        let isMuch = writes.count >= Self.maximumCount || bytes >= maximumBytes
        return Step(due: isMuch ? take() : [])
    }

    /// Ends an interval; another begins if something was gathered in this one.
    mutating func endInterval() -> Step {
        isPaced = !writes.isEmpty
        return Step(due: take(), startsInterval: isPaced)
    }

    /// Returns the gathered writes, for a caller that makes them before the end of the interval.
    mutating func take() -> [Write] {
        defer { (writes, bytes) = ([], 0) }
        return writes
    }

    /// Records that a job was put on the write queue.
    mutating func jobWasQueued() { waiting += 1 }

    /// Records that a job of the write queue begins.
    ///
    /// - Returns: Whether no other job waits.
    mutating func jobBegins() -> Bool {
        waiting -= 1
        return waiting == 0
    }
}

/// A write that was handed over: one change of the index, which gets its own result even when it shares a transaction
/// with other writes.
///
/// `prepare` and `finish` are called on the write queue, once each.
struct GatheredWrite: Sendable {
    /// The name of the operation, for the store's events.
    let task: String
    let key: RequestKey?
    /// The approximate memory that it holds.
    let bytes: Int
    let prepare: @Sendable () throws(StoreError) -> RowChange
    /// Receives the identifier of the row that was written; `nil` if the row no longer exists.
    let finish: @Sendable (Result<Int64?, StoreError>) -> Void
}
