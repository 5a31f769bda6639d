import Foundation
import GRDB
import WaystationFileSystem

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
        let areFilesRight = try writer.writeWithoutTransaction { db in
            try Bool.fetchOne(
                db,
                sql: """
                    SELECT count(*) = 1 AND (SELECT (files, bytes) = (\(Self.fileSum)) FROM file_totals)
                    FROM file_totals
                    """
            )
        }
        guard isRight != true || areFilesRight != true else { return }
        try change {
            try $0.execute(sql: "DELETE FROM totals; INSERT INTO totals \(Self.sum)")
            try $0.execute(sql: "DELETE FROM file_totals; INSERT INTO file_totals \(Self.fileSum)")
        }
    }

    /// Returns some of the pages that removed rows have freed to the file system, if there are many, or if the index and
    /// its body files take more than a limit.
    ///
    /// `limit` is the number of bytes that the index and its body files may take.
    ///
    /// - Returns: Whether pages were returned, so that another step may be needed.
    func vacuumStep(exceeding limit: Int = .max) throws -> Bool {
        let space = try space()
        let areMany = space.freePages > 64 && space.freePages > space.pages / 4
        guard areMany || space.freePages > 0 && space.allocated > limit else { return false }
        let count = min(256, max(16, stepBytes / Self.pageSize))
        _ = try change { try Row.fetchAll($0, sql: "PRAGMA incremental_vacuum(\(count))") }
        return true
    }

    /// Copies the log into the index and makes it empty, after waiting for its readers for up to some seconds.
    ///
    /// Look-ups of all processes go on meanwhile.
    /// - Returns: Whether the log is empty now.
    @discardableResult
    func emptyLog(waiting seconds: Double) throws -> Bool {
        try writer.writeWithoutTransaction { db in
            let before = try Int.fetchOne(db, sql: "PRAGMA busy_timeout") ?? 0
            try db.execute(sql: "PRAGMA busy_timeout = \(Int(seconds * 1_000))")
            defer { try? db.execute(sql: "PRAGMA busy_timeout = \(before)") }
            let state = keys.begin()
            defer { keys.logWasEmptied(after: state) }
            return try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == 0
        }
    }

    /// What the rows and their body files take on disk.
    struct Space: Sendable {
        var entries = 0
        /// The bytes of all responses.
        var bytes = 0
        /// The pages of the index; those that are free are among them.
        var pages = 0
        var freePages = 0
        /// How many body files there are.
        var fileCount = 0
        /// The bytes of all body files in whole blocks.
        var fileBytes = 0

        /// The bytes of the body files, and of their directories: up to 256 of a block each.
        var files: Int { fileBytes + min(256, fileCount) * FileStatus.blockSize }
        /// The bytes of the pages in use and of the body files.
        var used: Int { (pages - freePages) * StoreIndex.pageSize + files }
        /// The bytes of all pages and of the body files.
        var allocated: Int { pages * StoreIndex.pageSize + files }
    }

    /// What the rows and their body files take, in the state that the connection for writing sees.
    func space() throws -> Space { try space(by: writer) }

    func space(by connection: DatabaseQueue) throws -> Space { try connection.unsafeRead(Self.space) }

    static func space(_ db: Database) throws -> Space {
        func numbers(_ sql: String, _ count: Int32) throws -> [Int] {
            var numbers = [Int](repeating: 0, count: Int(count))
            // Not by GRDB's rows, since every transaction asks for these numbers.
            try RawQuery(db.cachedStatement(sql: sql)).forEachRow([]) { row in
                // Damage may have made a number so large that sums of it would overflow.
                for column in 0..<count {
                    numbers[Int(column)] = Int(clamping: min(max(0, row.integer(column) ?? 0), .max / 8))
                }
            }
            return numbers
        }
        let totals = try numbers("SELECT entries, totals.bytes, files, file_totals.bytes FROM totals, file_totals", 4)
        var space = Space(entries: totals[0], bytes: totals[1], fileCount: totals[2], fileBytes: totals[3])
        space.pages = try numbers("PRAGMA page_count", 1)[0]
        space.freePages = min(try numbers("PRAGMA freelist_count", 1)[0], space.pages)
        return space
    }
}
