import Foundation
import Synchronization
import WaystationCaching
import WaystationFileSystem

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
        guard length > largestInlineBody else {
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
        guard !invalidations.hasInvalidated(head.key, since: moment.count) else {
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
                try fileSystem.rename(staged.path, to: layout.path(of: name))
                spool.release()
                state.withLock { $0.space.unstage(length) }
            }
            drop(spool, in: opened)
            return written
        } catch {
            removeUnnamed([name.text], in: opened)
            throw error
        }
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
