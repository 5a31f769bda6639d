import Foundation
import Synchronization
package import WaystationHTTP

extension ResponseStore {
    /// Finds the variants of a key, newest first, and opens the files of large bodies only of some of them.
    ///
    /// An open file for each variant of each load could use up the process's descriptors. A file that is not opened by
    /// the look-up is opened when its body is read. Reading fails if the file is gone by then, as it does if the file is
    /// damaged: the response is no longer in the store.
    /// - Parameters:
    ///   - key: The key.
    ///   - mayAnswer: Whether the body of a response is likely to be read.
    ///   - completion: Called as that of ``lookup(_:completion:)``.
    package func lookup(
        _ key: RequestKey,
        opening mayAnswer: @escaping @Sendable (StoredHead) -> Bool,
        completion: @escaping @Sendable ([StoredResponse]) -> Void
    ) {
        wait(for: key, opening: mayAnswer, completion: completion)
    }

    /// Finds the variants of a key.
    ///
    /// Call it on the read queue.
    func find(
        _ key: RequestKey,
        opening mayAnswer: (StoredHead) -> Bool
    ) -> (responses: [StoredResponse], outcome: LookUps.Outcome) {
        dispatchPrecondition(condition: .onQueue(readQueue))
        if let responses = resident(key) { return (responses, .inMemory) }
        // Asks for the open store in any case, since that starts another attempt to open it.
        guard let opened = opened(), !resident.hasFailedToRemove(key) else { return ([], .nothing) }
        let time = now()
        requestPlaceCheck(at: time)
        let reading = resident.beginReading(key)
        let rows: [StoreIndex.Found]
        do {
            rows = try opened.index.rows(for: key)
        } catch {
            resident.endReading(reading)
            handle(error, in: opened, while: "looking up", key: key)
            return ([], .nothing)
        }
        var responses: [StoredResponse] = []
        var used: [Int64] = []
        for case let row in rows {
            guard case .intact(let record) = row else {
                if case .damaged(let id) = row {
                    drop(id, of: key, from: opened, because: "the response's row has changed bytes")
                }
                continue
            }
            guard !isExpired(record.head.responseTime, at: time) else {
                schedule([.expiry])
                continue
            }
            guard let response = response(record, key: key, opening: mayAnswer, opened) else { continue }
            responses.append(response)
            if record.isUseDue(at: time) { used.append(record.id) }
        }
        resident.keep(responses, for: key, readAt: time, by: reading)
        noteUse(of: used, at: time)
        return (responses, responses.isEmpty ? .nothing : .onDisk)
    }

    /// Finds the variants of a key, newest first, without waiting for the disk: by the known keys, and in what the system
    /// has in memory of the index.
    ///
    /// Call ``resident(_:)`` first, for the store's own memory. Variants with large bodies are not found in this way,
    /// since those are in files.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - mayRead: Whether the index may be read on this thread. Without that, only misses are found.
    /// - Returns: The variants, none if the key is certainly not stored; `nil` if only ``lookup(_:)`` can find out.
    package func lookUpInMemory(_ key: RequestKey, mayRead: Bool = true) -> [StoredResponse]? {
        guard case .open(let opened) = state.withLock({ $0.availability }), resident.isSettled(key) else {
            return nil
        }
        switch opened.index.keys.answer(key) {
        case .absent:
            lookUps.withLock { $0.count(.nothing) }
            return []
        case .outdated: schedule([.keys])
        case .mayBePresent, .unknowable: break
        }
        return mayRead ? readInMemory(key, in: opened) : nil
    }

    /// Whether a key is certainly not stored, by the known keys.
    ///
    /// It is no look-up, and is not counted as one.
    package func lacks(_ key: RequestKey) -> Bool {
        guard case .open(let opened) = state.withLock({ $0.availability }), resident.isSettled(key),
            case .absent = opened.index.keys.answer(key)
        else { return false }
        return true
    }

    private func readInMemory(_ key: RequestKey, in opened: Opened) -> [StoredResponse]? {
        let time = now()
        requestPlaceCheck(at: time)
        let reading = resident.beginReading(key)
        guard let rows = opened.index.rowsInMemory(for: key),
            let records = intact(rows, at: time)
        else {
            resident.endReading(reading)
            return nil
        }
        let responses = records.compactMap { response($0, key: key, opening: { _ in true }, opened) }
        resident.keep(responses, for: key, readAt: time, by: reading)
        noteUse(of: records.filter { $0.isUseDue(at: time) }.map(\.id), at: time)
        lookUps.withLock { $0.count(responses.isEmpty ? .nothing : .onDisk) }
        return responses
    }

    /// The records of rows, if they need no more work of the disk; `nil` otherwise.
    private func intact(_ rows: [StoreIndex.Found], at time: Date) -> [IndexRecord]? {
        var records: [IndexRecord] = []
        for row in rows {
            guard case .intact(let record) = row, case .inline = record.body,
                !isExpired(record.head.responseTime, at: time)
            else { return nil }
            records.append(record)
        }
        return records
    }

    private func response(
        _ record: IndexRecord,
        key: RequestKey,
        opening mayAnswer: (StoredHead) -> Bool,
        _ opened: Opened
    ) -> StoredResponse? {
        switch record.body {
        case .inline(let data):
            if let instance = resident.instance(id: record.id, seal: record.seal, for: key),
                instance.head.staleFrom == record.head.staleFrom
            {
                return instance
            }
            return StoredResponse(record, body: .data(data))
        case .file(let name):
            guard let name = BodyName(name) else {
                let problem = "the body file has a name that the store does not assign"
                drop(record.id, of: key, from: opened, because: problem)
                return nil
            }
            var file: OpenFile?
            if mayAnswer(record.head) {
                file = open(name, length: record.bodyLength, of: key, in: opened)
                if file == nil { return nil }
            }
            return StoredResponse(record, body: .file(bodyFile(name, file, of: record, key: key, opened)))
        }
    }

    private func bodyFile(
        _ name: BodyName,
        _ file: OpenFile?,
        of record: IndexRecord,
        key: RequestKey,
        _ opened: Opened
    ) -> StoredBodyFile {
        let fileSystem = environment.fileSystem
        return StoredBodyFile(
            length: record.bodyLength,
            file: file,
            fileSystem: fileSystem,
            checksums: record.checksums,
            open: { [weak self, length = record.bodyLength] () throws(StoreError) in
                guard let file = self?.open(name, length: length, of: key, in: opened) else {
                    throw StoreError(.damaged, "body file \(name.text) cannot be used; load the response again")
                }
                return file
            },
            onDamage: { [weak self] file, problem in
                self?.drop(name, of: key, from: opened, because: problem) {
                    // Another process may have found the damage too, and stored the body again under the same name.
                    guard let there = try fileSystem.identity(of: file.path) else { return true }
                    return try there == fileSystem.identity(of: file)
                }
            }
        )
    }

    /// Opens the file of a body; if that is not possible, the responses with this body are dropped.
    private func open(_ name: BodyName, length: Int, of key: RequestKey, in opened: Opened) -> OpenFile? {
        let fileSystem = environment.fileSystem
        let path = layout.path(of: name)
        let problem: String
        var isReadable = true
        do {
            let file = try fileSystem.openFile(path)
            let found = try fileSystem.length(of: file)
            if found == length { return file }
            problem = "the body file has \(found) bytes, not \(length)"
        } catch {
            // Too many open files do not mean that this file is damaged.
            if let error = error as? FileError, [EMFILE, ENFILE, ENOMEM].contains(error.code) {
                handle(error, in: opened, while: "opening a body", key: key)
                return nil
            }
            problem = "the body file cannot be opened: \(error)"
            isReadable = (error as? FileError)?.code == ENOENT
        }
        drop(name, of: key, from: opened, because: problem) { [isReadable] in
            // Another process may have removed the response and stored the body again since then.
            guard isReadable, let status = try fileSystem.status(of: path) else { return true }
            return status.kind != .file || status.size != length
        }
        return nil
    }

    /// Removes a response whose row differs from what was stored.
    ///
    /// If another process has removed the response on purpose meanwhile, no damage is reported.
    private func drop(_ id: Int64, of key: RequestKey, from opened: Opened, because problem: String) {
        drop(key, from: opened, because: problem) { try $0.removeStep(.id(id), limit: 1) }
    }

    /// Removes all responses that share a damaged body file, if it is still damaged while no process can replace it.
    private func drop(
        _ name: BodyName,
        of key: RequestKey,
        from opened: Opened,
        because problem: String,
        if isDamaged: @escaping @Sendable () throws -> Bool
    ) {
        drop(key, from: opened, because: problem) { try $0.removeRows(naming: name.text, if: isDamaged) }
    }

    private func drop(
        _ key: RequestKey,
        from opened: Opened,
        because problem: String,
        _ remove: @escaping @Sendable (StoreIndex) throws -> StoreIndex.Removal
    ) {
        enqueue { [self] in
            do {
                let removal = try remove(opened.index)
                finish(removal, in: opened, alsoChanged: key)
                guard removal.count > 0 else { return }
                let what = removal.count == 1 ? "the response was" : "\(removal.count) responses were"
                let detail = "\(what) dropped: \(problem)"
                report(StoreEvent(.damaged, key: key, count: removal.count, bytes: removal.bytes, detail: detail))
            } catch {
                handle(error, in: opened, while: "dropping a damaged response", key: key)
            }
        }
    }

    /// Records uses that are written later, many at a time, so that a hit needs no write.
    func noteUse(of ids: [Int64], at time: Date) {
        guard !ids.isEmpty else { return }
        let (areMany, isFirst) = state.withLock { state in
            for id in ids { state.uses[id] = time }
            defer { state.awaitsUses = true }
            return (state.uses.count >= 256, !state.awaitsUses)
        }
        if areMany { schedule([.uses]) }
        if isFirst { awaitUses() }
    }

    func currentStatistics() -> StoreStatistics {
        var statistics = StoreStatistics()
        (statistics.residentEntries, statistics.residentBytes, statistics.memoryHits) = resident.counts
        if let opened = opened() {
            do {
                let space = try opened.index.space(by: opened.index.reader)
                (statistics.entries, statistics.bytes) = (space.entries, space.bytes)
                statistics.diskBytes = try diskSize(space)
                statistics.isAvailable = true
            } catch {
                handle(error, in: opened, while: "counting")
            }
        }
        (statistics.diskHits, statistics.misses) = lookUps.withLock { ($0.diskHits, $0.misses) }
        statistics.stored = state.withLock { $0.stored }
        return statistics
    }
}

extension IndexRecord {
    /// Whether a use at a time is recorded.
    fileprivate func isUseDue(at time: Date) -> Bool {
        abs(time.timeIntervalSince(lastUsed)) > ResidentResponses.useInterval
    }
}

/// Look-ups that were handed to the disk and are not answered yet, and waits for its writes, so that none of them waits
/// for ever.
///
/// The watch has no clock. Call ``tick()`` at regular intervals while look-ups wait: it gives up the look-ups that were
/// already waiting at the previous tick, so each has waited for one to two intervals. Every look-up's completion is
/// returned exactly once, to the caller that must call it.
///
/// A line hangs from the moment a look-up in it is given up until any look-up gets its turn in that line. Meanwhile, a
/// look-up that would have to wait in that line is a miss at once.
struct LookUpWatch<Completion: Sendable>: Sendable {
    /// The work that a look-up waits for.
    enum Line: Sendable {
        /// The changes that were requested before it; after them the look-up waits in the line for reading.
        case writes
        /// The opening of the store, other look-ups, and the look-up's own reading.
        case reads
    }

    /// The place in which a look-up found responses.
    enum Outcome: Sendable { case inMemory, onDisk, nothing }

    private struct Waiting {
        let completion: Completion
        var line: Line
        /// Whether it is a look-up, or nothing but a wait for the writes before it.
        let isLookUp: Bool
        /// How many ticks there had been when the look-up was added.
        let ticks: Int
    }

    private var waiting: [Int: Waiting] = [:]
    private var lastNumber = 0
    private var ticks = 0
    private var isTicking = false
    private var hangingLines: Set<Line> = []
    /// Look-ups that were answered from disk.
    private(set) var diskHits = 0
    /// Look-ups that found nothing, including those given up.
    private(set) var misses = 0

    /// Whether a look-up was given up and its line has made no progress since.
    var isHanging: Bool { !hangingLines.isEmpty }

    /// The place of a look-up in its line.
    struct Position: Sendable {
        let number: Int
        /// Whether the caller must call ``tick()`` after an interval.
        let startsTicks: Bool
    }

    /// The caller's next steps when a look-up's turn comes.
    struct Turn: Sendable {
        /// Whether the look-up is still waiting for its result.
        var isAwaited = false
        /// The completion that must be called now.
        var completion: Completion?
        /// Whether the last hanging line has just recovered.
        var hasRecovered = false
    }

    /// The caller's next steps after a tick.
    struct Tick: Sendable {
        /// The completions that must be called with an empty result, in order.
        var givenUp: [Completion] = []
        /// Whether a line hangs now and none did before the tick.
        var startsHanging = false
        /// Whether the caller must call the next tick after an interval.
        var goesOn = false
    }

    /// Adds a look-up that is about to wait in a line.
    ///
    /// - Returns: `nil` when the line hangs; the look-up then counts as a miss.
    mutating func add(_ completion: Completion, to line: Line) -> Position? {
        add(completion, to: line, isLookUp: true)
    }

    /// Adds a wait for the writes that were requested before it.
    ///
    /// - Returns: `nil` when the disk hangs.
    mutating func addWait(_ completion: Completion) -> Position? { add(completion, to: .writes, isLookUp: false) }

    private mutating func add(_ completion: Completion, to line: Line, isLookUp: Bool) -> Position? {
        if isHanging, hangingLines.contains(.reads) || hangingLines.contains(line) {
            if isLookUp { misses += 1 }
            return nil
        }
        lastNumber += 1
        waiting[lastNumber] = Waiting(completion: completion, line: line, isLookUp: isLookUp, ticks: ticks)
        defer { isTicking = true }
        return Position(number: lastNumber, startsTicks: !isTicking)
    }

    /// Records that all writes before a wait have been made.
    mutating func endWait(_ number: Int) -> Turn {
        Turn(completion: remove(number)?.completion, hasRecovered: recover(.writes))
    }

    /// Records that all writes before a look-up have been made: the look-up now waits in the line for reading.
    mutating func moveOn(_ number: Int) -> Turn {
        var turn = Turn(hasRecovered: recover(.writes))
        guard waiting[number] != nil else { return turn }
        guard !hangingLines.contains(.reads) else {
            turn.completion = remove(number)?.completion
            misses += 1
            return turn
        }
        waiting[number]?.line = .reads
        turn.isAwaited = true
        return turn
    }

    /// Records that a look-up is about to be made.
    mutating func begin(_ number: Int) -> Turn {
        Turn(isAwaited: waiting[number] != nil, hasRecovered: recover(.reads))
    }

    /// Records that a look-up was made.
    mutating func end(_ number: Int, _ outcome: Outcome) -> Turn {
        let turn = Turn(completion: remove(number)?.completion, hasRecovered: recover(.reads))
        if turn.completion != nil { count(outcome) }
        return turn
    }

    /// Counts a look-up.
    mutating func count(_ outcome: Outcome) {
        switch outcome {
        case .inMemory: break
        case .onDisk: diskHits += 1
        case .nothing: misses += 1
        }
    }

    /// Gives up the look-ups that have waited for too long.
    mutating func tick() -> Tick {
        var tick = Tick()
        let wasHanging = isHanging
        for number in waiting.filter({ $0.value.ticks < ticks }).keys.sorted() {
            guard let given = remove(number) else { continue }
            tick.givenUp.append(given.completion)
            // A wait says nothing about the disk: one long change may be under way.
            guard given.isLookUp else { continue }
            hangingLines.insert(given.line)
            misses += 1
        }
        ticks += 1
        isTicking = !waiting.isEmpty
        tick.startsHanging = isHanging && !wasHanging
        tick.goesOn = isTicking
        return tick
    }

    private mutating func remove(_ number: Int) -> Waiting? { waiting.removeValue(forKey: number) }

    private mutating func recover(_ line: Line) -> Bool {
        guard isHanging else { return false }
        hangingLines.remove(line)
        return !isHanging
    }
}
