import Foundation
import GRDB
import HTTPTypes

extension StoreIndex {
    /// Rows that a change removed, for those who hold copies or files of them.
    struct Removal: Sendable {
        var keys: Set<RequestKey> = []
        var files: [String] = []
        var count = 0
        /// What the removal has taken from the store's size; a body that other rows still name is not in it.
        var bytes = 0

        mutating func formUnion(_ other: Removal) {
            keys.formUnion(other.keys)
            files += other.files
            count += other.count
            bytes += other.bytes
        }
    }

    /// Which rows to remove.
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
                // Ranges, which the index on URLs can find. No canonical URL holds U+10FFFF, which sorts behind
                // everything that one does hold.
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

    /// Runs changes that happen together or not at all, while no other process writes.
    func change<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try writer.writeWithoutTransaction { db in
            if db.isInsideTransaction { try db.rollback() }
            var result: Result?
            try db.inTransaction(.immediate) {
                result = try body(db)
                return .commit
            }
            guard let result else { throw IndexError.damaged("ended a transaction without a result") }
            return result
        }
    }

    /// Adds a record in the place of the variant with the same key and vary record.
    ///
    /// `publish` puts the body file in its place. It runs while the index is locked for writing, so that whoever
    /// sweeps body files (``removeOrphans(among:shard:remove:)``) never sees one that has no row yet.
    func insert(
        _ record: IndexRecord,
        maximumVariants: Int,
        publish: () throws -> Void
    ) throws -> (id: Int64, replaced: Removal, totalBytes: Int) {
        let head = EncodedHead(record.head)
        return try change { db in
            try publish()
            let key: StatementArguments = [head.url, head.method, head.partition]
            var replaced = try Self.remove(
                Selection(
                    condition: "url = ? AND method = ? AND partition = ? AND vary = ?",
                    arguments: key + [head.vary]
                ),
                db
            )
            let surplus = Selection(
                condition: """
                    id IN (SELECT id FROM responses WHERE url = ? AND method = ? AND partition = ?
                           ORDER BY response_time DESC, id DESC LIMIT -1 OFFSET ?)
                    """,
                arguments: key + [max(0, maximumVariants - 1)]
            )
            replaced.formUnion(try Self.remove(surplus, db))
            var inline: Data?
            if case .inline(let data) = record.body { inline = data }
            try db.cachedStatement(
                sql: """
                    INSERT INTO responses (method, url, partition, status, request_time, response_time, last_used, size,
                                           seal, body_length, body_file, vary, fields, block_sums, body)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                head.method, head.url, head.partition, head.status, head.requestTime, head.responseTime,
                record.lastUsed.microseconds, record.size,
                Int64(bitPattern: record.seal), record.bodyLength, record.bodyFile, head.vary, head.fields,
                record.checksums.encoded, inline,
            ])
            return (db.lastInsertedRowID, replaced, try Self.totalBytes(db))
        }
    }

    /// Replaces the fields and times of rows; those that are no longer there stay away.
    ///
    /// - Returns: How many were there.
    func update(_ updates: [FieldUpdate]) throws -> Int {
        try change { db in
            var count = 0
            for update in updates where try Self.apply(update, db) { count += 1 }
            return count
        }
    }

    private static func apply(_ update: FieldUpdate, _ db: Database) throws -> Bool {
        let (id, key) = (update.response.id, update.response.key)
        let select = try db.cachedStatement(
            sql: """
                SELECT status, body_length, body_file, block_sums, vary FROM responses
                WHERE id = ? AND url = ? AND method = ? AND partition = ?
                """
        )
        guard let row = try Row.fetchOne(select, arguments: [id, key.url, key.method, key.partition]) else {
            return false
        }
        guard let status = integer(row, 0).flatMap(Int.init(exactly:)),
            let length = integer(row, 1).flatMap(Int.init(exactly:)),
            let sums = Data.fromDatabaseValue(row[3]), let varyBytes = Data.fromDatabaseValue(row[4]),
            let vary = varyBytes.withUnsafeBytes({ VaryRecord(encoded: $0) })
        else { throw IndexError.damaged("has a row of the wrong types") }
        let head = EncodedHead(
            ResponseHead(
                key: key,
                status: status,
                headerFields: update.headerFields,
                vary: vary,
                requestTime: update.requestTime,
                responseTime: update.responseTime
            )
        )
        let seal = head.seal(checksums: sums, bodyLength: length, file: String.fromDatabaseValue(row[2]))
        try db.cachedStatement(
            sql: "UPDATE responses SET fields = ?, request_time = ?, response_time = ?, seal = ?, size = ? WHERE id = ?"
        ).execute(arguments: [
            head.fields, head.requestTime, head.responseTime, Int64(bitPattern: seal), head.size(bodyLength: length),
            id,
        ])
        return true
    }

    /// Removes what is selected, in several transactions, so that other processes get their turn.
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
            let step = try change { try Self.remove(bounded, limit: 512, $0) }
            removal.formUnion(step)
            if step.count < 512 { return removal }
        }
    }

    /// Removes the rows with these identifiers, together.
    func remove(ids: [Int64]) throws -> Removal {
        try change { db in
            var removal = Removal()
            for id in ids { removal.formUnion(try Self.remove(.id(id), db)) }
            return removal
        }
    }

    /// Removes up to `limit` of what is selected.
    func removeStep(_ selection: Selection, limit: Int) throws -> Removal {
        try change { try Self.remove(selection, limit: limit, $0) }
    }

    /// Removes up to `limit` of the least recently used rows, no more than it takes to come down to `target` bytes.
    func evictStep(downTo target: Int, limit: Int) throws -> (removal: Removal, isDone: Bool) {
        try change { db in
            let surplus = try Self.totalBytes(db) - target
            guard surplus > 0 else { return (Removal(), true) }
            // A row whose body others share frees less than its size: then another step is needed.
            var rest = surplus
            var ids: [Int64] = []
            let rows = try Row.fetchCursor(
                db,
                sql: "SELECT id, size FROM responses ORDER BY last_used, id LIMIT ?",
                arguments: [limit]
            )
            while rest > 0, let row = try rows.next() {
                guard let id = Self.integer(row, 0) else { continue }
                ids.append(id)
                rest -= Int(clamping: Self.integer(row, 1) ?? 0)
            }
            var removal = Removal()
            for id in ids { removal.formUnion(try Self.remove(.id(id), db)) }
            return (removal, try Self.totalBytes(db) <= target || removal.count == 0)
        }
    }

    /// Notes when rows were last used; rows that are gone are skipped.
    func touch(_ uses: [Int64: Date]) throws {
        guard !uses.isEmpty else { return }
        try change { db in
            let statement = try db.cachedStatement(
                sql: "UPDATE responses SET last_used = max(last_used, ?) WHERE id = ?"
            )
            for (id, date) in uses { try statement.execute(arguments: [date.microseconds, id]) }
        }
    }

    private static func totalBytes(_ db: Database) throws -> Int {
        let row = try Row.fetchOne(db, sql: "SELECT bytes FROM totals")
        return Int(clamping: row.flatMap { integer($0, 0) } ?? 0)
    }

    static func remove(_ selection: Selection, limit: Int = -1, _ db: Database) throws -> Removal {
        let select = try db.cachedStatement(
            sql:
                "SELECT id, body_file, method, url, partition FROM responses WHERE \(selection.condition) LIMIT ?"
        )
        // Fetched whole before anything is deleted: a row deleted under a cursor may be seen twice or not at all.
        let rows = try Row.fetchAll(select, arguments: selection.arguments + [limit])
        let delete = try db.cachedStatement(sql: "DELETE FROM responses WHERE id = ?")
        guard !rows.isEmpty else { return Removal() }
        let before = try totalBytes(db)
        var removal = Removal()
        for row in rows {
            guard let id = integer(row, 0) else { continue }
            try delete.execute(arguments: [id])
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
