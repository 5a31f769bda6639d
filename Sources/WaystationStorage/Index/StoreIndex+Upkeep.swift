import Foundation
import WaystationFileSystem

extension StoreIndex {
    /// A number that changes whenever a connection other than the writing one has changed the index.
    func dataVersion() throws -> Int64 {
        try writer.use { try $0.integer("PRAGMA data_version") ?? 0 }
    }

    /// Brings the known keys up to date, unless another process commits meanwhile.
    func learnKeys() throws {
        guard let missing = keys.missing else { return }
        try writer.use { db in
            // SQLite reads the index of keys for all of them, not the rows.
            let (condition, arguments): (String, [Statement.Argument]) =
                switch missing {
                case .all: ("", [])
                case .newer(let id): (" WHERE id > ?", [.integer(id)])
                }
            let query = try db.statement("SELECT url, method, partition, id FROM responses\(condition)")
            var (hashes, newest): ([KeyHash], Int64) = ([], 0)
            let state = keys.present
            try query.forEachRow(arguments) { row in
                hashes.append(KeyHash(row))
                newest = max(newest, row.integer(3) ?? 0)
            }
            guard let state, keys.present == state else { return }
            keys.update(hashes, newest: newest, missing, in: state)
        }
    }

    /// How many rows there are and how many bytes they count.
    func totals() throws -> (entries: Int, bytes: Int) {
        try reader.use { db in
            var totals = (0, 0)
            try db.statement("SELECT entries, bytes FROM totals LIMIT 1").forEachRow { row in
                totals = (Int(clamping: row.integer(0) ?? 0), Int(clamping: row.integer(1) ?? 0))
            }
            return totals
        }
    }

    /// The response time of the oldest response; nil when the index is empty.
    ///
    /// - Complexity: O(log *n*), by `responses_by_age`.
    func oldestResponseTime() throws -> Date? {
        try writer.use { try $0.integer("SELECT min(response_time) FROM responses") }.map { Date(microseconds: $0) }
    }

    /// Corrects the totals so that they equal the sum over the rows; damage may have made them differ.
    func recount() throws {
        // The totals are checked on the writing connection, so that the first look-up after an opening does not wait
        // for the check.
        let areRight = try writer.use { db in
            try db.integer(Self.areTotalsRight) == 1 && db.integer(Self.areFileTotalsRight) == 1
        }
        guard !areRight else { return }
        try change {
            try $0.execute("DELETE FROM totals; INSERT INTO totals \(Self.sum)")
            try $0.execute("DELETE FROM file_totals; INSERT INTO file_totals \(Self.fileSum)")
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
        try change { try $0.execute("PRAGMA incremental_vacuum(\(count))") }
        return true
    }

    /// Copies the log into the index and makes it empty, after waiting for its readers for up to some seconds.
    ///
    /// Look-ups of all processes go on meanwhile.
    /// - Returns: Whether the log is empty now.
    @discardableResult
    func emptyLog(waiting seconds: Double) throws -> Bool {
        try writer.use { db in
            let before = try db.integer("PRAGMA busy_timeout") ?? 0
            try db.execute("PRAGMA busy_timeout = \(Int(seconds * 1_000))")
            defer { try? db.execute("PRAGMA busy_timeout = \(before)") }
            let state = keys.begin()
            defer { keys.logWasEmptied(after: state) }
            return try db.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0
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

    func space(by connection: Connection) throws -> Space { try connection.use(Self.space) }

    static func space(_ db: Database) throws -> Space {
        func numbers(_ sql: String, _ count: Int32) throws -> [Int] {
            var numbers = [Int](repeating: 0, count: Int(count))
            try db.statement(sql).forEachRow { row in
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
