import CWaystationSQLite
import Foundation

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

    /// Removes the row that the new row replaces, and the oldest variants if there would be too many afterwards.
    ///
    /// - Returns: The body files of the removed rows.
    private func makeRoom(for row: EncodedRow, maximumVariants: Int, _ db: Database) throws -> [String] {
        // Most responses that are stored are the first of their key.
        if case .absent = keys.answer(row.key) { return [] }
        typealias Variant = (time: Int64, id: Int64, file: String?)
        var leaving: [Variant] = []
        var staying: [Variant] = []
        try db.statement(
            "SELECT id, vary, response_time, body_file FROM responses WHERE url = ? AND method = ? AND partition = ?"
        ).forEachRow([.text(row.key.url), .text(row.key.method), .text(row.key.partition)]) { found in
            guard let id = found.integer(0) else { return }
            let variant = (found.integer(2) ?? .min, id, found.text(3))
            if found.data(1) == row.vary { leaving.append(variant) } else { staying.append(variant) }
        }
        let surplus = staying.count - max(0, maximumVariants - 1)
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
