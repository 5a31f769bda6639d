import Foundation
import Synchronization
import WaystationFileSystem

extension ResponseStore {
    /// Finds the variants of a key.
    ///
    /// On the read queue.
    func find(_ key: RequestKey) -> [StoredResponse] {
        if let responses = resident(key) { return responses }
        guard let opened = opened() else { return missed() }
        let time = now()
        resident.beginReading(key)
        let rows: [StoreIndex.Found]
        do {
            rows = try opened.index.rows(for: key)
        } catch {
            handle(error, in: opened, while: "looking up", key: key)
            return missed()
        }
        var responses: [StoredResponse] = []
        var used: [Int64] = []
        for case let row in rows {
            guard case .intact(let record) = row else {
                if case .damaged(let id) = row { drop(id, of: key, from: opened, because: "its row has changed bytes") }
                continue
            }
            guard !isExpired(record.head.responseTime, at: time) else {
                schedule([.expiry])
                continue
            }
            guard let response = response(record, key: key, opened: opened) else { continue }
            responses.append(response)
            if abs(time.timeIntervalSince(record.lastUsed)) > ResidentResponses.useInterval { used.append(record.id) }
        }
        resident.keep(responses, for: key, readAt: time)
        noteUse(of: used, at: time)
        guard !responses.isEmpty else { return missed() }
        state.withLock { $0.diskHits += 1 }
        return responses
    }

    private func missed() -> [StoredResponse] {
        state.withLock { $0.misses += 1 }
        return []
    }

    private func response(_ record: IndexRecord, key: RequestKey, opened: Opened) -> StoredResponse? {
        switch record.body {
        case .inline(let data):
            if let instance = resident.instance(id: record.id, seal: record.seal, for: key) { return instance }
            return StoredResponse(id: record.id, seal: record.seal, head: record.head, body: .data(data))
        case .file(let name):
            guard let file = bodyFile(name, of: record, key: key, opened: opened) else { return nil }
            return StoredResponse(id: record.id, seal: record.seal, head: record.head, body: .file(file))
        }
    }

    private func bodyFile(_ name: String, of record: IndexRecord, key: RequestKey, opened: Opened) -> StoredBodyFile? {
        let fileSystem = environment.fileSystem
        let id = record.id
        let problem: String
        do {
            guard let path = layout.body(name) else { throw FileError("open", name, code: EINVAL) }
            let file = try fileSystem.openFile(path)
            let length = try fileSystem.length(of: file)
            if length == record.bodyLength {
                return StoredBodyFile(
                    length: length,
                    file: file,
                    fileSystem: fileSystem,
                    checksums: record.checksums,
                    onDamage: { [weak self] in self?.drop(id, of: key, from: opened, because: $0) }
                )
            }
            problem = "its body file has \(length) bytes of \(record.bodyLength)"
        } catch {
            // Too many open files say nothing about this one.
            if let error = error as? FileError, [EMFILE, ENFILE, ENOMEM].contains(error.code) {
                handle(error, in: opened, while: "opening a body", key: key)
                return nil
            }
            problem = "its body file cannot be opened: \(error)"
        }
        drop(id, of: key, from: opened, because: problem)
        return nil
    }

    /// Removes a response that is not what was stored.
    ///
    /// Another process may have removed it properly meanwhile, and its file with it; then there was no damage.
    func drop(_ id: Int64, of key: RequestKey, from opened: Opened, because problem: String) {
        writeQueue.async { [self] in
            do {
                let removal = try opened.index.removeStep(.id(id), limit: 1)
                finish(removal)
                resident.invalidate([key])
                guard removal.count > 0 else { return }
                report(
                    StoreEvent(.damaged, key: key, bytes: removal.bytes, detail: "the response was dropped: \(problem)")
                )
            } catch {
                handle(error, in: opened, while: "dropping a damaged response", key: key)
            }
        }
    }

    /// Notes uses to be written later, many at a time: a hit costs no write.
    func noteUse(of ids: [Int64], at time: Date) {
        guard !ids.isEmpty else { return }
        let isDue = state.withLock { state in
            for id in ids { state.uses[id] = time }
            return state.uses.count >= 256
        }
        if isDue { schedule([.uses]) }
    }

    func currentStatistics() -> StoreStatistics {
        var statistics = StoreStatistics()
        (statistics.residentEntries, statistics.residentBytes, statistics.memoryHits) = resident.counts
        if let opened = opened() {
            do {
                (statistics.entries, statistics.bytes) = try opened.index.totals()
                statistics.isAvailable = true
            } catch {
                handle(error, in: opened, while: "counting")
            }
        }
        state.withLock { state in
            statistics.diskHits = state.diskHits
            statistics.misses = state.misses
            statistics.stored = state.stored
        }
        return statistics
    }
}
