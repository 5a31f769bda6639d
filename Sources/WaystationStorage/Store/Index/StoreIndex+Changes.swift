import CWaystation.SQLite
import Foundation
import WaystationHTTP

extension StoreIndex {
    /// The rows that a change removed, for code that holds copies or files of them.
    struct Removal: Sendable {
        var keys: Set<RequestKey> = []
        var files: [String] = []
        var count = 0
        /// Whether selected rows may be left.
        var isPartial = false
        /// How much the removal has reduced the store's size; a body that other rows still name is not included.
        var bytes = 0

        mutating func formUnion(_ other: Removal) {
            keys.formUnion(other.keys)
            files += other.files
            count += other.count
            bytes += other.bytes
        }
    }

    /// The rows to remove.
    struct Selection {
        let condition: String
        let arguments: [Statement.Argument]

        static func id(_ id: Int64) -> Selection { Selection(condition: "id = ?", arguments: [.integer(id)]) }

        static func file(_ name: String) -> Selection {
            Selection(condition: "body_file = ?", arguments: [.text(name)])
        }

        static func older(than date: Date) -> Selection {
            Selection(condition: "response_time < ?", arguments: [.integer(date.microseconds)])
        }

        static func scope(_ scope: ResponseScope) -> Selection {
            var conditions: [String] = []
            var arguments: [Statement.Argument] = []
            switch scope.urls {
            case .all: break
            case .one(let url):
                // The second character sorts after the first one, so these are the URLs that have a fragment.
                let searched = RequestKey.searchPrefix(of: url)
                conditions.append("(url = ? OR (url >= ? AND url < ?) OR (url >= ? AND url < ?))")
                arguments += [.text(url), .text(url + "#"), .text(url + "$")]
                arguments += [.text(searched), .text(searched + "\u{10FFFF}")]
            case .prefixes(let prefixes):
                // Ranges can use the index on URLs. A canonical URL never contains U+10FFFF, which sorts after every
                // character that it can contain.
                conditions.append("(\(prefixes.map { _ in "(url >= ? AND url < ?)" }.joined(separator: " OR ")))")
                arguments += prefixes.flatMap { [.text($0), .text($0 + "\u{10FFFF}")] }
            }
            if let partition = scope.partition {
                conditions.append("partition = ?")
                arguments.append(.text(partition))
            }
            if !scope.partitionPrefix.isEmpty {
                conditions.append("(partition >= ? AND partition < ?)")
                arguments += [scope.partitionPrefix, scope.partitionPrefix + "\u{10FFFF}"].map(Statement.Argument.text)
            }
            return Selection(
                condition: conditions.isEmpty ? "1" : conditions.joined(separator: " AND "),
                arguments: arguments
            )
        }
    }

    /// Runs changes in one transaction, while no other process writes.
    func change<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try writer.use { db in
            let (state, result) = try db.transaction { (keys.begin(), try body(db)) }
            keys.committed(after: state)
            return result
        }
    }

    /// Removes the selected rows, in several transactions, so that other processes can write in between.
    ///
    /// Rows that are added meanwhile stay.
    func remove(_ selection: Selection) throws -> Removal {
        let newest = try writer.use { try $0.integer("SELECT max(id) FROM responses") }
        let bounded = Selection(
            condition: "(\(selection.condition)) AND id <= ?",
            arguments: selection.arguments + [.integer(newest ?? 0)]
        )
        var removal = Removal()
        while true {
            let step = try change { try Self.remove(bounded, limit: 512, bytes: stepBytes, $0) }
            removal.formUnion(step)
            if !step.isPartial { return removal }
        }
    }

    /// Removes the rows with these identifiers, in one transaction.
    func remove(ids: [Int64]) throws -> Removal {
        try change { db in
            var removal = Removal()
            for id in ids { removal.formUnion(try Self.remove(.id(id), db)) }
            return removal
        }
    }

    /// Removes up to `limit` of the selected rows.
    func removeStep(_ selection: Selection, limit: Int) throws -> Removal {
        try change { try Self.remove(selection, limit: limit, bytes: stepBytes, $0) }
    }

    /// Removes up to `limit` of the least recently used rows, but not more than are needed to get down to the target.
    ///
    /// The target is a number of bytes of responses, and a number of bytes in use on disk (``Space/used``).
    ///
    /// A row whose last use is in the future was used before the clock was set back, and not since then: it counts as
    /// the least recently used.
    func evictStep(
        downTo target: (bytes: Int, used: Int),
        limit: Int,
        at time: Date
    ) throws -> (removal: Removal, isDone: Bool) {
        try change { db in
            func surplus() throws -> Int {
                let space = try Self.space(db)
                return max(space.bytes - target.bytes, space.used - target.used)
            }
            let surplusBefore = try surplus()
            guard surplusBefore > 0 else { return (Removal(), true) }
            // A row whose body other rows share frees less than its size: then another step is needed.
            var rest = min(surplusBefore, stepBytes)
            var ids: [Int64] = []
            // Two queries, so that each one can read its rows in the order of `responses_by_use`.
            for condition in ["last_used > ?", "last_used <= ?"] where rest > 0 {
                let select = "SELECT id, size FROM responses WHERE \(condition) ORDER BY last_used, id LIMIT ?"
                let arguments: [Statement.Argument] =
                    [.integer(Self.latestUse(at: time)), .integer(Int64(limit - ids.count))]
                try db.statement(select).forEachRow(arguments) { row in
                    guard rest > 0, let id = row.integer(0) else { return }
                    ids.append(id)
                    rest -= Int(clamping: row.integer(1) ?? 0)
                }
            }
            var removal = Removal()
            for id in ids { removal.formUnion(try Self.remove(.id(id), db)) }
            return (removal, try surplus() <= 0 || removal.count == 0)
        }
    }

    /// Records when rows were last used; rows that are gone are skipped.
    ///
    /// A use that another process has written is kept if it is later, unless it is in the future.
    func touch(_ uses: [Int64: Date], at time: Date) throws {
        guard !uses.isEmpty else { return }
        let latest = Self.latestUse(at: time)
        try change { db in
            let statement = try db.statement(
                "UPDATE responses SET last_used = max(CASE WHEN last_used > ? THEN 0 ELSE last_used END, ?) WHERE id = ?"
            )
            for (id, date) in uses {
                try statement.run([.integer(latest), .integer(min(date, time).microseconds), .integer(id)])
            }
        }
    }

    /// The latest time of last use that is possible, in microseconds; later ones are from before the clock was set back.
    ///
    /// Corrections by NTP set a clock back by less than a minute.
    private static func latestUse(at time: Date) -> Int64 { time.addingTimeInterval(60).microseconds }

    private static func totalBytes(_ db: Database) throws -> Int {
        Int(clamping: try db.integer("SELECT bytes FROM totals") ?? 0)
    }

    static func delete(_ id: Int64, _ db: Database) throws {
        try db.statement("DELETE FROM responses WHERE id = ?").run([.integer(id)])
    }

    /// Removes selected rows until there are `limit` of them, or until their sizes reach `bytes`.
    static func remove(_ selection: Selection, limit: Int = -1, bytes: Int = .max, _ db: Database) throws -> Removal {
        var removal = Removal()
        // All rows are read before any is deleted, as SQLite may otherwise return a row twice or skip it.
        var (ids, found, size): ([Int64], Int, Int) = ([], 0, 0)
        try db.statement(
            "SELECT id, body_file, method, url, partition, size FROM responses WHERE \(selection.condition) LIMIT ?"
        ).forEachRow(selection.arguments + [.integer(Int64(limit))]) { row in
            found += 1
            guard let id = row.integer(0) else { return }
            guard size < bytes else { return removal.isPartial = true }
            ids.append(id)
            // Damage may have changed a size.
            size += Int(clamping: min(max(0, row.integer(5) ?? 0), 1 << 40))
            row.text(1).map { removal.files.append($0) }
            if let method = row.text(2), let url = row.text(3), let partition = row.text(4) {
                removal.keys.insert(RequestKey(method: method, url: url, partition: partition))
            }
        }
        guard found > 0 else { return Removal() }
        let before = try totalBytes(db)
        for id in ids { try delete(id, db) }
        removal.count = ids.count
        removal.isPartial = removal.isPartial || found == limit
        removal.bytes = max(0, before.subtractingReportingOverflow(try totalBytes(db)).partialValue)
        return removal
    }
}

/// One change of the index's rows, which is made completely or not at all.
enum RowChange: Sendable {
    /// Adds a row; the body is `nil` if it is in a file.
    case insert(EncodedRow, body: Data?, lastUsed: Date)
    /// Writes new fields and times into a row; a row that no longer exists is skipped.
    case update(id: Int64, EncodedRow)
}

extension StoreIndex {
    /// The result of adding and updating rows.
    struct Written<Result> {
        let result: Result
        /// The body files of replaced rows; other rows may still name them.
        let unnamed: [String]
        /// What the rows take after the change, if a row was added.
        let space: Space?
    }

    /// Adds a row, replacing the variant with the same key and vary key.
    ///
    /// `publish` puts the body file in its place. It runs while the index is locked for writing, so that a sweep of
    /// body files (``removeOrphans(among:shard:remove:)``) never sees a file that has no row yet.
    func insert(
        _ row: EncodedRow,
        lastUsed: Date,
        maximumVariants: Int,
        publish: () throws -> Void
    ) throws -> Written<Int64> {
        try change { db in
            try publish()
            let unnamed = try makeRoom(for: row, maximumVariants: maximumVariants, db)
            let id = try insert(row, body: nil, lastUsed: lastUsed, db)
            return Written(result: id, unnamed: unnamed, space: try Self.space(db))
        }
    }

    func insert(_ row: EncodedRow, body: Data?, lastUsed: Date, _ db: Database) throws -> Int64 {
        try db.statement(
            """
            INSERT INTO responses (method, url, partition, status, request_time, response_time, last_used, size,
                                   seal, body_length, body_file, vary, fields, block_sums, body)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ).run([
            .text(row.key.method), .text(row.key.url), .text(row.key.partition), .integer(Int64(row.status)),
            .integer(row.requestTime), .integer(row.responseTime), .integer(lastUsed.microseconds),
            .integer(Int64(row.size)), .integer(Int64(bitPattern: row.seal)), .integer(Int64(row.bodyLength)),
            .text(row.bodyFile), .blob(row.vary), .blob(row.fields), .blob(row.checksums), .blob(body),
        ])
        let id = db.lastInsertedRow
        keys.insert(row.key, row: id)
        return id
    }

    /// The number of parts (206) of a key that stay, of all its variants.
    private static let maximumParts = 1_024

    /// Removes the row that the new row replaces, and the oldest variants if there would be too many afterwards.
    ///
    /// Parts count by themselves: they are many.
    /// - Returns: The body files of the removed rows.
    private func makeRoom(for row: EncodedRow, maximumVariants: Int, _ db: Database) throws -> [String] {
        // Most responses that are stored are the first of their key.
        if case .absent = keys.answer(row.key) { return [] }
        typealias Variant = (time: Int64, id: Int64, file: String?)
        var leaving: [Variant] = []
        var staying: [Variant] = []
        try db.statement(
            "SELECT id, vary, response_time, body_file, status FROM responses WHERE url = ? AND method = ? AND partition = ?"
        ).forEachRow([.text(row.key.url), .text(row.key.method), .text(row.key.partition)]) { found in
            guard let id = found.integer(0) else { return }
            let variant = (found.integer(2) ?? .min, id, found.text(3))
            let isPart = found.integer(4) == 206
            if found.data(1) == row.vary {
                leaving.append(variant)
            } else if isPart == (row.status == 206) {
                staying.append(variant)
            }
        }
        let maximum = row.status == 206 ? Self.maximumParts : maximumVariants
        let surplus = staying.count - max(0, maximum - 1)
        if surplus > 0 {
            staying.sort { ($0.time, $0.id) < ($1.time, $1.id) }
            leaving += staying.prefix(surplus)
        }
        for variant in leaving { try Self.delete(variant.id, db) }
        return leaving.compactMap(\.file)
    }

    /// Makes several changes in one transaction; a change that was refused before keeps its refusal as its result.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - maximumVariants: How many variants of a key stay.
    ///   - givesWay: Whether threads that wait for the processor run in between; the index stays locked meanwhile.
    /// - Returns: For each change, the identifier of the row that it wrote; `nil` if the row no longer exists.
    /// - Throws: The error of the transaction.
    func write<Refusal>(
        _ changes: [Result<RowChange, Refusal>],
        maximumVariants: Int,
        givesWay: Bool
    ) throws -> Written<[Result<Int64?, Refusal>]> {
        guard givesWay, SQLiteMode.areAvailable else { return try write(changes, maximumVariants) }
        return try SQLiteMode.perform(in: waystation_sqlite_giving_way) { try write(changes, maximumVariants) }
    }

    private func write<Refusal>(
        _ changes: [Result<RowChange, Refusal>],
        _ maximumVariants: Int
    ) throws -> Written<[Result<Int64?, Refusal>]> {
        try change { db in
            var unnamed: [String] = []
            var hasInserted = false
            let results = try changes.map { change throws -> Result<Int64?, Refusal> in
                waystation_sqlite_give_way()
                switch change {
                case .failure(let refusal): return .failure(refusal)
                case .success(.insert(let row, let body, let lastUsed)):
                    hasInserted = true
                    unnamed += try makeRoom(for: row, maximumVariants: maximumVariants, db)
                    return .success(try insert(row, body: body, lastUsed: lastUsed, db))
                case .success(.update(let id, let row)):
                    return .success(try Self.update(id, to: row, db) ? id : nil)
                }
            }
            return Written(
                result: results,
                unnamed: unnamed,
                space: hasInserted ? try Self.space(db) : nil
            )
        }
    }

    /// Writes the new fields, if the row is still there.
    private static func update(_ id: Int64, to row: EncodedRow, _ db: Database) throws -> Bool {
        // All columns that the seal covers must match: an index that was replaced by a new one assigns the same
        // identifiers again.
        try db.statement(
            """
            UPDATE responses SET fields = ?, request_time = ?, response_time = ?, seal = ?, size = ?
            WHERE id = ? AND url = ? AND method = ? AND partition = ? AND status = ? AND vary = ?
                  AND body_length = ? AND body_file IS ? AND block_sums = ?
            """
        ).run([
            .blob(row.fields), .integer(row.requestTime), .integer(row.responseTime),
            .integer(Int64(bitPattern: row.seal)), .integer(Int64(row.size)), .integer(id), .text(row.key.url),
            .text(row.key.method), .text(row.key.partition), .integer(Int64(row.status)), .blob(row.vary),
            .integer(Int64(row.bodyLength)), .text(row.bodyFile), .blob(row.checksums),
        ])
        return db.changes > 0
    }
}
