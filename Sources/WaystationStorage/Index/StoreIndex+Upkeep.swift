import Foundation
import GRDB

extension StoreIndex {
    /// A number that changes whenever a connection other than the writing one has changed the index.
    func dataVersion() throws -> Int64 {
        try writer.writeWithoutTransaction { try Int64.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
    }

    /// Brings the known keys up to date, unless another process commits meanwhile.
    func learnKeys() throws {
        guard let missing = keys.missing else { return }
        try writer.writeWithoutTransaction { db in
            let query =
                switch missing {
                // SQLite reads the index of keys for it, not the rows.
                case .all: RawQuery(try db.cachedStatement(sql: "SELECT url, method, partition, id FROM responses"))
                case .newer(let id):
                    RawQuery(
                        try db.makeStatement(sql: "SELECT url, method, partition, id FROM responses WHERE id > \(id)")
                    )
                }
            var (hashes, newest): ([KeyHash], Int64) = ([], 0)
            let state = keys.present
            try query.forEachRow([]) { row in
                hashes.append(KeyHash(row))
                newest = max(newest, row.integer(3) ?? 0)
            }
            guard let state, keys.present == state else { return }
            keys.update(hashes, newest: newest, missing, in: state)
        }
    }

    /// How many rows there are and how many bytes they count.
    func totals() throws -> (entries: Int, bytes: Int) {
        try reader.unsafeRead { db in
            guard let row = try Row.fetchOne(db, sql: "SELECT entries, bytes FROM totals") else { return (0, 0) }
            return (Int(clamping: Self.integer(row, 0) ?? 0), Int(clamping: Self.integer(row, 1) ?? 0))
        }
    }

    /// The response time of the oldest response; nil when the index is empty.
    ///
    /// - Complexity: O(log *n*), by `responses_by_age`.
    func oldestResponseTime() throws -> Date? {
        try writer.writeWithoutTransaction { db in
            let statement = try db.cachedStatement(sql: "SELECT min(response_time) FROM responses")
            return try Row.fetchOne(statement).flatMap { Self.integer($0, 0) }.map { Date(microseconds: $0) }
        }
    }

    /// Corrects the totals so that they equal the sum over the rows; damage may have made them differ.
    func recount() throws {
        // The totals are checked on the writing connection, so that the first look-up after an opening does not wait
        // for the check.
        let isRight = try writer.writeWithoutTransaction { db in
            try Bool.fetchOne(
                db,
                sql: "SELECT count(*) = 1 AND (SELECT (entries, bytes) = (\(Self.sum)) FROM totals) FROM totals"
            )
        }
        guard isRight != true else { return }
        try change { try $0.execute(sql: "DELETE FROM totals; INSERT INTO totals \(Self.sum)") }
    }

    /// Returns some of the pages that removed rows have freed to the file system, if there are many.
    ///
    /// - Returns: Whether pages were returned, so that another step may be needed.
    func vacuumStep() throws -> Bool {
        try writer.writeWithoutTransaction { db in
            let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            let all = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            guard free > 512, free > all / 4 else { return false }
            _ = try Row.fetchAll(db, sql: "PRAGMA incremental_vacuum(256)")
            return true
        }
    }
}
