import Foundation
import Synchronization
import WaystationFileSystem

extension ResponseStore {
    /// Writes part of a large body to its staging file.
    func spool(_ data: Data, to spool: BodySpool) {
        writeQueue.async { [self] in
            guard let opened = opened(), acceptsWrites(at: now()) else { return spool.discard() }
            do {
                try spool.write(data, in: opened.staging)
            } catch {
                spool.discard()
                handle(error, in: opened, while: "writing a body")
            }
        }
    }

    func discard(_ spool: BodySpool) {
        writeQueue.async { spool.discard() }
    }

    func reportTooLarge(_ key: RequestKey, length: Int) {
        let detail = "its body has at least \(length) bytes and the store takes \(largestBody); it was not stored"
        report(StoreEvent(.tooLarge, key: key, bytes: length, detail: detail))
    }

    /// Makes a response visible.
    ///
    /// `rest` is what was not spooled (all of a small body, the end of a large one), `length` that of the whole body.
    func commit(
        _ entry: NewResponse,
        rest: Data,
        length: Int,
        spool: BodySpool,
        completion: @escaping @Sendable (Result<Int64, StoreError>) -> Void
    ) {
        resident.beginChanging(entry.key)
        writeQueue.async { [self] in
            let result = Result { () throws(StoreError) in
                try store(entry, rest: rest, length: length, spool: spool)
            }
            resident.endChanging(entry.key)
            if case .failure = result { spool.discard() }
            completion(result)
        }
    }

    private func store(_ entry: NewResponse, rest: Data, length: Int, spool: BodySpool) throws(StoreError) -> Int64 {
        if let expected = entry.expectedLength, expected != length {
            let detail = "its body has \(length) bytes where \(expected) were announced; it was not stored"
            report(StoreEvent(.truncated, key: entry.key, bytes: length, detail: detail))
            throw StoreError(.truncated, detail)
        }
        guard let opened = opened() else {
            throw StoreError(.unavailable, "the store does not work; its events say why")
        }
        guard acceptsWrites(at: now()) else {
            throw StoreError(.full, "writes are paused because the disk is full")
        }
        do {
            let inserted: (id: Int64, replaced: StoreIndex.Removal, totalBytes: Int)
            if length <= limits.inlineBodyLimit.bytes {
                inserted = try insert(entry, .inline(rest), length, BlockChecksums(of: rest), in: opened) {}
            } else {
                inserted = try publish(entry, rest: rest, length: length, spool: spool, in: opened)
            }
            finish(inserted.replaced, alsoChanged: entry.key)
            state.withLock { $0.stored += 1 }
            report(StoreEvent(.stored, key: entry.key, bytes: length, detail: "\(length) bytes"))
            scheduleUpkeep(totalBytes: inserted.totalBytes)
            return inserted.id
        } catch let error as StoreError {
            throw error
        } catch {
            throw handle(error, in: opened, while: "storing", key: entry.key)
        }
    }

    private func insert(
        _ entry: NewResponse,
        _ body: IndexRecord.Body,
        _ length: Int,
        _ checksums: BlockChecksums,
        in opened: Opened,
        publish: () throws -> Void
    ) throws -> (id: Int64, replaced: StoreIndex.Removal, totalBytes: Int) {
        let record = IndexRecord(
            head: entry.head,
            body: body,
            bodyLength: length,
            checksums: checksums,
            lastUsed: now()
        )
        return try opened.index.insert(record, maximumVariants: limits.maximumVariants, publish: publish)
    }

    /// Completes a body file, then moves it to its place and adds its row in one transaction.
    private func publish(
        _ entry: NewResponse,
        rest: Data,
        length: Int,
        spool: BodySpool,
        in opened: Opened
    ) throws -> (id: Int64, replaced: StoreIndex.Removal, totalBytes: Int) {
        let fileSystem = environment.fileSystem
        try spool.write(rest, in: opened.staging)
        guard let staged = try spool.finish(in: opened.staging), staged.length == length else {
            throw StoreError(.unavailable, "part of the body could not be written; the store's events say why")
        }
        let (shard, name) = StoreLayout.randomBodyName()
        let destination = "\(layout.bodies)/\(name)"
        do {
            return try insert(entry, .file(name), length, staged.checksums, in: opened) {
                try fileSystem.createDirectory("\(layout.bodies)/\(shard)")
                try fileSystem.rename(staged.path, to: destination)
            }
        } catch {
            // If the row was written all the same, the next look-up drops it for want of its file.
            try? fileSystem.removeFile(destination)
            throw error
        }
    }

    /// Takes removed responses out of memory and their files off the disk, now that no row names them.
    ///
    /// A file that stays, by an error or a kill, is an orphan that the next opening sweeps.
    func finish(_ removal: StoreIndex.Removal, alsoChanged key: RequestKey? = nil) {
        let keys = key.map { removal.keys.union([$0]) } ?? removal.keys
        if !keys.isEmpty { resident.invalidate(keys) }
        for file in removal.files {
            if let path = layout.body(file) { try? environment.fileSystem.removeFile(path) }
        }
    }
}
