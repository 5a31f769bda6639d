import Foundation
import GRDB

/// One change of the index's rows, which is made completely or not at all.
enum RowChange: Sendable {
    case insert(NewRow)
    /// Rows that no longer exist are skipped.
    case update([RowUpdate])
}

extension StoreIndex {
    /// The result of adding and updating rows.
    struct Written<Result> {
        let result: Result
        /// The body files of replaced rows; other rows may still name them.
        let unnamed: [String]
        /// The store's total size after the change, if a row was added.
        let totalBytes: Int?
    }

    /// Adds a row, replacing the variant with the same key and vary record.
    ///
    /// `publish` puts the body file in its place. It runs while the index is locked for writing, so that a sweep of
    /// body files (``removeOrphans(among:shard:remove:)``) never sees a file that has no row yet.
    func insert(_ row: NewRow, maximumVariants: Int, publish: () throws -> Void) throws -> Written<Int64> {
        try change { db in
            try publish()
            var unnamed: [String] = []
            let id = try Self.insert(row, maximumVariants: maximumVariants, unnamed: &unnamed, db)
            return Written(result: id, unnamed: unnamed, totalBytes: try Self.totalBytes(db))
        }
    }

    private static func insert(
        _ row: NewRow,
        maximumVariants: Int,
        unnamed: inout [String],
        _ db: Database
    ) throws -> Int64 {
        unnamed += try makeRoom(for: row, maximumVariants: maximumVariants, db)
        let head = row.head
        var inline: Data?
        if case .inline(let data) = row.body { inline = data }
        try db.cachedStatement(
            sql: """
                INSERT INTO responses (method, url, partition, status, request_time, response_time, last_used, size,
                                       seal, body_length, body_file, vary, fields, block_sums, body)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            head.method, head.url, head.partition, head.status, head.requestTime, head.responseTime,
            row.lastUsed.microseconds, row.size, Int64(bitPattern: row.seal), row.bodyLength, row.body.file, head.vary,
            head.fields, row.checksums, inline,
        ])
        return db.lastInsertedRowID
    }

    /// Removes the row that the new row replaces, and the oldest variants if there would be too many afterwards.
    ///
    /// - Returns: The body files of the removed rows.
    private static func makeRoom(for row: NewRow, maximumVariants: Int, _ db: Database) throws -> [String] {
        let select = try db.cachedStatement(
            sql: """
                SELECT id, vary, response_time, body_file FROM responses WHERE url = ? AND method = ? AND partition = ?
                """
        )
        typealias Variant = (time: Int64, id: Int64, file: String?)
        var leaving: [Variant] = []
        var staying: [Variant] = []
        let rows = try Row.fetchCursor(select, arguments: [row.head.url, row.head.method, row.head.partition])
        while let found = try rows.next() {
            guard let id = integer(found, 0) else { continue }
            let variant = (integer(found, 2) ?? .min, id, String.fromDatabaseValue(found[3]))
            if Data.fromDatabaseValue(found[1]) == row.head.vary {
                leaving.append(variant)
            } else {
                staying.append(variant)
            }
        }
        let surplus = staying.count - max(0, maximumVariants - 1)
        if surplus > 0 {
            staying.sort { ($0.time, $0.id) < ($1.time, $1.id) }
            leaving += staying.prefix(surplus)
        }
        for variant in leaving { try delete(variant.id, db) }
        return leaving.compactMap(\.file)
    }

    /// Makes several changes in one transaction; a change that was refused before keeps its refusal as its result.
    ///
    /// - Returns: For each change, the identifiers of the rows that it wrote.
    func write<Refusal>(
        _ changes: [Result<RowChange, Refusal>],
        maximumVariants: Int
    ) throws -> Written<[Result<[Int64], Refusal>]> {
        try change { db in
            var unnamed: [String] = []
            var hasInserted = false
            let results = try changes.map { change throws -> Result<[Int64], Refusal> in
                switch change {
                case .failure(let refusal): return .failure(refusal)
                case .success(.insert(let row)):
                    hasInserted = true
                    let id = try Self.insert(row, maximumVariants: maximumVariants, unnamed: &unnamed, db)
                    return .success([id])
                case .success(.update(let updates)):
                    return .success(try updates.filter { try Self.apply($0, db) }.map(\.response.id))
                }
            }
            return Written(
                result: results,
                unnamed: unnamed,
                totalBytes: hasInserted ? try Self.totalBytes(db) : nil
            )
        }
    }

    /// Writes the new fields, if the row is still there.
    private static func apply(_ update: RowUpdate, _ db: Database) throws -> Bool {
        let (response, head) = (update.response, update.head)
        // All columns that the seal covers must match: an index that was replaced by a new one assigns the same
        // identifiers again.
        try db.cachedStatement(
            sql: """
                UPDATE responses SET fields = ?, request_time = ?, response_time = ?, seal = ?, size = ?
                WHERE id = ? AND url = ? AND method = ? AND partition = ? AND status = ? AND vary = ?
                      AND body_length = ? AND body_file IS ? AND block_sums = ?
                """
        ).execute(arguments: [
            head.fields, head.requestTime, head.responseTime, Int64(bitPattern: response.seal),
            head.size(bodyLength: response.bodyLength), response.id, head.url, head.method, head.partition,
            head.status, head.vary, response.bodyLength, response.bodyFile, update.checksums,
        ])
        return db.changesCount > 0
    }
}
