public import Foundation
import HTTPTypes
import WaystationHTTP

/// Reads a store without changing it: nothing is made, migrated, evicted or repaired.
///
/// Unlike ``ResponseStore`` it throws errors, blocks its caller, and reads stores of every version up to the current
/// one. Apps may use the store meanwhile. Safe to use from any thread.
public final class StoreInspector: Sendable {
    /// The directory that holds the store.
    public let directory: URL

    let index: StoreIndex
    let layout: StoreLayout
    let fileSystem: any FileSystem

    /// Opens an existing store.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/notAStore`` when the directory contains no store (nothing is made in
    ///   it then), ``StoreError/Code/newerVersion``, ``StoreError/Code/damaged``, or ``StoreError/Code/unavailable``.
    public init(directory: URL) throws(StoreError) {
        let environment = StoreEnvironment()
        let layout = StoreLayout(directory: directory)
        do {
            index = try StoreIndex(reading: layout.index, environment: environment)
        } catch {
            throw Self.error(error, layout)
        }
        self.directory = directory
        self.layout = layout
        fileSystem = environment.fileSystem
    }

    deinit { index.close() }

    /// The number of responses, and the bytes that they take together.
    public func totals() throws(StoreError) -> (entries: Int, bytes: Int) {
        try reading { try index.totals() }
    }

    /// The responses of a scope, sorted by URL.
    ///
    /// Rows that cannot be read at all are left out; ``verify()`` reports them. So are responses that were purged and are
    /// not removed yet, and the rows that only name the rules of a path (`No-Vary-Search`).
    public func entries(in scope: ResponseScope = .all) throws(StoreError) -> [StoredEntry] {
        try reading {
            let entries = try index.entries(.scope(scope)).compactMap(\.entry).filter { !$0.key.isOfSearchRules }
            return scope.label.map { label in entries.filter { $0.labels.contains(label) } } ?? entries
        }
    }

    /// The response with an identifier; `nil` when it is no longer stored, or when its row cannot be read at all.
    package func entry(_ id: Int64) throws(StoreError) -> StoredEntry? {
        try reading { try index.entries(.id(id)).first?.entry }
    }

    /// A response with its header fields and its body.
    ///
    /// - Returns: `nil` when the response is no longer stored.
    /// - Throws: ``StoreError``: ``StoreError/Code/damaged`` when the response differs from what was stored.
    public func response(_ entry: StoredEntry) throws(StoreError) -> StoredResponse? {
        try reading {
            for row in try index.rows(for: entry.key) {
                switch row {
                case .damaged(let id) where id == entry.id: throw IndexError.damaged("has a row with changed bytes")
                case .intact(let record) where record.id == entry.id:
                    return StoredResponse(record, body: try body(of: record))
                default: break
                }
            }
            return nil
        }
    }

    private func body(of record: IndexRecord) throws -> StoredBody {
        switch record.body {
        case .inline(let data): return .data(data)
        case .file(let name):
            guard let path = layout.body(name) else { throw IndexError.damaged("has an invalid body file name") }
            let file = try fileSystem.openFile(path)
            return .file(
                StoredBodyFile(
                    length: record.bodyLength,
                    file: file,
                    fileSystem: fileSystem,
                    checksums: record.checksums,
                    open: { file },
                    onDamage: { _, _ in }
                )
            )
        }
    }

    func reading<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
        do { return try body() } catch { throw Self.error(error, layout) }
    }

    private static func error(_ error: any Error, _ layout: StoreLayout) -> StoreError {
        switch error {
        case let error as StoreError: return error
        case IndexError.noIndex:
            return StoreError(.notAStore, "\(layout.root) contains no store: give the directory of an app's cache")
        case IndexError.newerSchema: return StoreError(.newerVersion, "\(layout.index): \(error)")
        case let error as FileError where error.code == ENOENT:
            return StoreError(.damaged, "a body file is missing", cause: error)
        default: break
        }
        switch StoreFailure(error) {
        // A file that is not a database was never an index.
        case .damaged where "\(error)".contains("SQLite error 26"):
            return StoreError(.notAStore, "\(layout.index) is not the index of a store", cause: error)
        case .damaged:
            return StoreError(
                .damaged,
                "\(layout.index) is damaged: the next app that opens it replaces it",
                cause: error
            )
        default: return StoreError(.unavailable, "\(layout.root) cannot be read", cause: error)
        }
    }
}

extension StoreInspector {
    /// Reads every row and every body and compares them with their checksums and digests.
    ///
    /// Blocks for as long as reading the whole store takes. Responses that apps remove meanwhile are not reported as
    /// damage.
    public func verify() throws(StoreError) -> StoreVerification {
        try reading {
            var result = StoreVerification()
            do {
                try check(into: &result)
            } catch  where StoreFailure(error) == .damaged {
                // The check cannot continue in a file that SQLite cannot read.
                result.indexProblems.append("\(error)")
            }
            return result
        }
    }

    private func check(into result: inout StoreVerification) throws {
        result.indexProblems = try index.problems()
        var bodies = BodyContents(layout: layout, fileSystem: fileSystem)
        let listed = try index.entries(.scope(.all))
        result.entries = listed.count
        for row in listed where row.entry == nil {
            result.damaged.append(.init(id: row.id, key: nil, problem: "the row has columns of wrong types"))
        }
        for key in Self.keys(listed.compactMap(\.entry)) {
            for row in try index.rows(for: key) {
                guard let damage = Self.damage(row, key, &bodies) else { continue }
                // An app may have removed the response and its file between the two reads.
                if try index.contains(row) { result.damaged.append(damage) }
            }
        }
        result.bodyFiles = bodies.count
        result.unnamedFiles = try unnamedFiles()
    }

    /// Returns each key of the entries once, in the order of the entries.
    private static func keys(_ entries: [StoredEntry]) -> [RequestKey] {
        var seen = Set<RequestKey>()
        return entries.map(\.key).filter { seen.insert($0).inserted }
    }

    private static func damage(
        _ row: StoreIndex.Found,
        _ key: RequestKey,
        _ bodies: inout BodyContents
    ) -> StoreVerification.Damage? {
        switch row {
        case .damaged(let id): return .init(id: id, key: key, problem: "the response's row has changed bytes")
        case .intact(let record):
            guard let name = record.bodyFile, let problem = bodies.problem(of: name, record) else { return nil }
            return .init(id: record.id, key: key, problem: problem)
        }
    }

    private func unnamedFiles() throws -> Int {
        let shards = try fileSystem.contents(of: layout.bodies).filter(BodyName.isShard)
        let files = try shards.flatMap { shard in
            try fileSystem.contents(of: "\(layout.bodies)/\(shard)").map { "\(shard)/\($0)" }
        }
        // The names are read after the files: a file that got its row in between is not counted.
        let named = try index.namedFiles()
        return files.filter { BodyName($0) != nil && !named.contains($0) }.count
    }
}

/// The contents of body files, each file read once.
private struct BodyContents {
    private enum Content {
        case whole(length: Int, checksums: BlockChecksums, digest: String)
        case unreadable(String)
    }

    let layout: StoreLayout
    let fileSystem: any FileSystem
    private var contents: [String: Content] = [:]

    init(layout: StoreLayout, fileSystem: any FileSystem) {
        self.layout = layout
        self.fileSystem = fileSystem
    }

    var count: Int { contents.count }

    /// The problem of a record's body file; nil if the file is sound.
    mutating func problem(of name: String, _ record: IndexRecord) -> String? {
        guard let body = BodyName(name) else { return "the body file has a name that the store does not assign" }
        let content = contents[name] ?? read(body)
        contents[name] = content
        switch content {
        case .unreadable(let problem): return "the body file cannot be read: \(problem)"
        case .whole(let length, let checksums, let digest):
            if length != record.bodyLength { return "the body file has \(length) bytes, not \(record.bodyLength)" }
            if checksums != record.checksums { return "the body file has changed bytes" }
            if let expected = body.digest, expected != digest {
                return "the digest of the body file is not the file's name"
            }
            return nil
        }
    }

    private func read(_ body: BodyName) -> Content {
        do {
            let file = try fileSystem.openFile(layout.path(of: body))
            var (checksums, digest, length) = (BlockChecksums(), MessageDigest(), 0)
            while true {
                let block = try fileSystem.read(file, at: length, count: BlockChecksums.blockSize)
                guard !block.isEmpty else { break }
                checksums.append(block: block)
                digest.update(block)
                length += block.count
            }
            let name = BodyName(digest: digest.bytes)
            return .whole(length: length, checksums: checksums, digest: name.digest ?? "")
        } catch {
            return .unreadable("\(error)")
        }
    }
}

extension StoreIndex {
    /// Whether a row that was found is still there and, unless it is damaged, still has the same body file.
    fileprivate func contains(_ row: Found) throws -> Bool {
        switch row {
        case .damaged(let id): try !entries(.id(id)).isEmpty
        case .intact(let record):
            try rows(for: record.head.key).contains {
                if case .intact(let other) = $0 {
                    other.id == record.id && other.bodyFile == record.bodyFile
                } else {
                    false
                }
            }
        }
    }
}

extension ResponseStore {
    /// Removes the responses that a check found damaged, and replaces the index by a new one if the index itself is
    /// damaged.
    ///
    /// - Returns: How many responses were removed; the responses of a damaged index are not counted.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func repair(_ verification: StoreVerification) async throws(StoreError) -> Int {
        try await waiting { completion in
            change("repairing", keys: [], completion: completion) { [self] opened in
                let removal = try opened.index.remove(ids: verification.damaged.map(\.id))
                finish(removal, in: opened)
                try opened.index.recount()
                let problems = try opened.index.problems()
                if let problem = problems.first {
                    handle(IndexError.damaged("fails its check: \(problem)"), in: opened, while: "repairing")
                }
                return removal.count
            }
        }
    }
}

extension StoreIndex {
    /// Returns rows without their fields and bodies, sorted by URL; checks nothing but the types of the columns.
    ///
    /// - Returns: For each row its identifier, and its entry if the columns can be read.
    func entries(_ selection: Selection) throws -> [(id: Int64, entry: StoredEntry?)] {
        try reader.use { db in
            let query = try db.statement(
                """
                SELECT id, method, url, partition, status, request_time, response_time, last_used, body_length, size,
                       body_file, vary, fields FROM responses WHERE \(selection.condition)
                ORDER BY url, partition, method, response_time DESC, id DESC
                """
            )
            var listed: [(id: Int64, entry: StoredEntry?)] = []
            try query.forEachRow(selection.arguments) { listed.append(($0.integer(0) ?? 0, Self.entry($0))) }
            guard hasPurges else { return listed }
            try learnPurges(db)
            return listed.filter { _, entry in
                entry.map { purges.effect(on: $0.id, requestTime: $0.requestTime, $0.labels) != .removed } ?? true
            }
        }
    }

    private static func entry(_ row: Row) -> StoredEntry? {
        guard let id = row.integer(0), let method = row.text(1),
            let url = row.text(2), let partition = row.text(3),
            let status = row.integer(4), let requestTime = row.integer(5), let responseTime = row.integer(6),
            let lastUsed = row.integer(7), let bodyLength = row.integer(8), let size = row.integer(9),
            let vary = row.withBytes(11, { VaryKey(encoded: $0) })
        else { return nil }
        let key = RequestKey(method: method, url: url, partition: partition)
        let isPart = status == 206
        return StoredEntry(
            id: id,
            key: key,
            vary: vary,
            status: Int(clamping: status),
            requestTime: Date(microseconds: requestTime),
            responseTime: Date(microseconds: responseTime),
            lastUsed: Date(microseconds: lastUsed),
            bodyLength: Int(clamping: bodyLength),
            size: Int(clamping: size),
            part: isPart ? row.withBytes(12) { part($0, of: key, length: Int(clamping: bodyLength)) } : nil,
            bodyFile: row.text(10),
            labels: row.withBytes(12) { labels($0, url: url) } ?? []
        )
    }

    private static func part(
        _ fields: UnsafeRawBufferPointer,
        of key: RequestKey,
        length: Int
    ) -> StoredEntry.Part? {
        let head = StoredHead(
            key: key,
            status: 206,
            headerFields: FieldSection.decode(fields) ?? [:],
            requestTime: .distantPast,
            responseTime: .distantPast,
            contentLength: length
        )
        return head.partBytes.map { StoredEntry.Part(bytes: $0.bytes, total: $0.total) }
    }

    /// The problems that SQLite finds in the file, and a difference between the totals and the rows.
    func problems() throws -> [String] {
        try reader.use { db in
            var problems = try db.texts("PRAGMA integrity_check(20)").filter { $0 != "ok" }
            let areRight = try db.integer(Self.areTotalsRight) == 1
            if !areRight { problems.append("the totals differ from the sum over the rows") }
            return problems
        }
    }

    func namedFiles() throws -> Set<String> {
        try reader.use {
            Set(try $0.texts("SELECT DISTINCT CAST(body_file AS TEXT) FROM responses WHERE body_file IS NOT NULL"))
        }
    }
}
