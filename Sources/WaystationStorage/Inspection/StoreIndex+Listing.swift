import Foundation
import GRDB
import WaystationCaching

extension StoreIndex {
    /// Returns rows without their fields and bodies, sorted by URL; checks nothing but the types of the columns.
    ///
    /// - Returns: For each row its identifier, and its entry if the columns can be read.
    func entries(_ selection: Selection) throws -> [(id: Int64, entry: StoredEntry?)] {
        try reader.unsafeRead { db in
            let sql = """
                SELECT id, method, url, partition, status, request_time, response_time, last_used, body_length, size,
                       body_file, vary FROM responses WHERE \(selection.condition)
                ORDER BY url, partition, method, response_time DESC, id DESC
                """
            let rows = try Row.fetchCursor(db, sql: sql, arguments: selection.arguments)
            var listed: [(id: Int64, entry: StoredEntry?)] = []
            while let row = try rows.next() { listed.append((Self.integer(row, 0) ?? 0, Self.entry(row))) }
            return listed
        }
    }

    private static func entry(_ row: Row) -> StoredEntry? {
        guard let id = integer(row, 0), let method = String.fromDatabaseValue(row[1]),
            let url = String.fromDatabaseValue(row[2]), let partition = String.fromDatabaseValue(row[3]),
            let status = integer(row, 4), let requestTime = integer(row, 5), let responseTime = integer(row, 6),
            let lastUsed = integer(row, 7), let bodyLength = integer(row, 8), let size = integer(row, 9),
            let vary = Data.fromDatabaseValue(row[11])?.withUnsafeBytes({ VaryKey(encoded: $0) })
        else { return nil }
        return StoredEntry(
            id: id,
            key: RequestKey(method: method, url: url, partition: partition),
            vary: vary,
            status: Int(clamping: status),
            requestTime: Date(microseconds: requestTime),
            responseTime: Date(microseconds: responseTime),
            lastUsed: Date(microseconds: lastUsed),
            bodyLength: Int(clamping: bodyLength),
            size: Int(clamping: size),
            bodyFile: String.fromDatabaseValue(row[10])
        )
    }

    /// The problems that SQLite finds in the file, and a difference between the totals and the rows.
    func problems() throws -> [String] {
        try reader.unsafeRead { db in
            var problems = try String.fetchAll(db, sql: "PRAGMA integrity_check(20)").filter { $0 != "ok" }
            // The totals are compared in one statement, so that it sees one state of the index.
            let isRight = try Bool.fetchOne(
                db,
                sql: "SELECT count(*) = 1 AND (SELECT (entries, bytes) = (\(Self.sum)) FROM totals) FROM totals"
            )
            if isRight != true { problems.append("the totals differ from the sum over the rows") }
            return problems
        }
    }

    func namedFiles() throws -> Set<String> {
        try reader.unsafeRead { db in
            try Set(
                String.fetchAll(
                    db,
                    sql: "SELECT DISTINCT CAST(body_file AS TEXT) FROM responses WHERE body_file IS NOT NULL"
                )
            )
        }
    }
}
