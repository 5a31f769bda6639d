import Foundation
import GRDB
import WaystationCaching

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
        let arguments: StatementArguments

        static func id(_ id: Int64) -> Selection { Selection(condition: "id = ?", arguments: [id]) }

        static func file(_ name: String) -> Selection { Selection(condition: "body_file = ?", arguments: [name]) }

        static func older(than date: Date) -> Selection {
            Selection(condition: "response_time < ?", arguments: [date.microseconds])
        }

        static func scope(_ scope: ResponseScope) -> Selection {
            var conditions: [String] = []
            var arguments: [any DatabaseValueConvertible] = []
            switch scope.urls {
            case .all: break
            case .one(let url):
                conditions.append("url = ?")
                arguments.append(url)
            case .prefixes(let prefixes):
                // Ranges can use the index on URLs. A canonical URL never contains U+10FFFF, which sorts after every
                // character that it can contain.
                conditions.append("(\(prefixes.map { _ in "(url >= ? AND url < ?)" }.joined(separator: " OR ")))")
                arguments += prefixes.flatMap { [$0, $0 + "\u{10FFFF}"] }
            }
            if let partition = scope.partition {
                conditions.append("partition = ?")
                arguments.append(partition)
            }
            if !scope.partitionPrefix.isEmpty {
                conditions.append("(partition >= ? AND partition < ?)")
                arguments += [scope.partitionPrefix, scope.partitionPrefix + "\u{10FFFF}"]
            }
            return Selection(
                condition: conditions.isEmpty ? "1" : conditions.joined(separator: " AND "),
                arguments: StatementArguments(arguments)
            )
        }
    }

    /// Runs changes in one transaction, while no other process writes.
    ///
    /// GRDB's own `inTransaction` compiles its statements each time, which takes as long as adding a small row.
    func change<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try writer.writeWithoutTransaction { db in
            if db.isInsideTransaction { try db.rollback() }
            try db.cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
            do {
                let state = keys.begin()
                let result = try body(db)
                try db.cachedStatement(sql: "COMMIT TRANSACTION").execute()
                keys.committed(after: state)
                return result
            } catch {
                // If a failing disk leaves the transaction open, the next change ends it.
                if db.isInsideTransaction { try? db.rollback() }
                throw error
            }
        }
    }

    /// Removes the selected rows, in several transactions, so that other processes can write in between.
    ///
    /// Rows that are added meanwhile stay.
    func remove(_ selection: Selection) throws -> Removal {
        let newest = try writer.writeWithoutTransaction { try Int64.fetchOne($0, sql: "SELECT max(id) FROM responses") }
        let bounded = Selection(
            condition: "(\(selection.condition)) AND id <= ?",
            arguments: selection.arguments + [newest ?? 0]
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
                let rows = try Row.fetchCursor(
                    db,
                    sql: "SELECT id, size FROM responses WHERE \(condition) ORDER BY last_used, id LIMIT ?",
                    arguments: [Self.latestUse(at: time), limit - ids.count]
                )
                while rest > 0, let row = try rows.next() {
                    guard let id = Self.integer(row, 0) else { continue }
                    ids.append(id)
                    rest -= Int(clamping: Self.integer(row, 1) ?? 0)
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
            let statement = try db.cachedStatement(
                sql: """
                    UPDATE responses SET last_used = max(CASE WHEN last_used > ? THEN 0 ELSE last_used END, ?)
                    WHERE id = ?
                    """
            )
            for (id, date) in uses { try statement.execute(arguments: [latest, min(date, time).microseconds, id]) }
        }
    }

    /// The latest time of last use that is possible, in microseconds; later ones are from before the clock was set back.
    ///
    /// Corrections by NTP set a clock back by less than a minute.
    private static func latestUse(at time: Date) -> Int64 { time.addingTimeInterval(60).microseconds }

    static func totalBytes(_ db: Database) throws -> Int {
        let row = try Row.fetchOne(db.cachedStatement(sql: "SELECT bytes FROM totals"))
        return Int(clamping: row.flatMap { integer($0, 0) } ?? 0)
    }

    static func delete(_ id: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM responses WHERE id = ?").execute(arguments: [id])
    }

    /// Removes selected rows until there are `limit` of them, or until their sizes reach `bytes`.
    static func remove(_ selection: Selection, limit: Int = -1, bytes: Int = .max, _ db: Database) throws -> Removal {
        let select = try db.cachedStatement(
            sql:
                "SELECT id, body_file, method, url, partition, size FROM responses WHERE \(selection.condition) LIMIT ?"
        )
        // All rows are fetched before any is deleted: a cursor may return a row twice or skip it when rows are deleted
        // under it.
        let rows = try Row.fetchAll(select, arguments: selection.arguments + [limit])
        guard !rows.isEmpty else { return Removal() }
        let before = try totalBytes(db)
        var removal = Removal(isPartial: rows.count == limit)
        var size = 0
        for row in rows {
            guard let id = integer(row, 0) else { continue }
            if size >= bytes {
                removal.isPartial = true
                break
            }
            // Damage may have changed a size.
            size += Int(clamping: min(max(0, integer(row, 5) ?? 0), 1 << 40))
            try delete(id, db)
            removal.count += 1
            String.fromDatabaseValue(row[1]).map { removal.files.append($0) }
            if let method = String.fromDatabaseValue(row[2]), let url = String.fromDatabaseValue(row[3]),
                let partition = String.fromDatabaseValue(row[4])
            {
                removal.keys.insert(RequestKey(method: method, url: url, partition: partition))
            }
        }
        removal.bytes = max(0, before.subtractingReportingOverflow(try totalBytes(db)).partialValue)
        return removal
    }
}
