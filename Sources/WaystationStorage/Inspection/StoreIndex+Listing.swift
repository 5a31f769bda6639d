import Foundation
import WaystationCaching

extension StoreIndex {
    /// Returns rows without their fields and bodies, sorted by URL; checks nothing but the types of the columns.
    ///
    /// - Returns: For each row its identifier, and its entry if the columns can be read.
    func entries(_ selection: Selection) throws -> [(id: Int64, entry: StoredEntry?)] {
        try reader.use { db in
            let query = try db.statement(
                """
                SELECT id, method, url, partition, status, request_time, response_time, last_used, body_length, size,
                       body_file, vary FROM responses WHERE \(selection.condition)
                ORDER BY url, partition, method, response_time DESC, id DESC
                """
            )
            var listed: [(id: Int64, entry: StoredEntry?)] = []
            try query.forEachRow(selection.arguments) { listed.append(($0.integer(0) ?? 0, Self.entry($0))) }
            return listed
        }
    }

    private static func entry(_ row: Row) -> StoredEntry? {
        guard let id = row.integer(0), let method = row.text(1),
            let url = row.text(2), let partition = row.text(3),
            let status = row.integer(4), let requestTime = row.integer(5), let responseTime = row.integer(6),
            let lastUsed = row.integer(7), let bodyLength = row.integer(8), let size = row.integer(9),
            let vary = row.withBytes(11, { VaryKey(encoded: $0) })
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
            bodyFile: row.text(10)
        )
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
