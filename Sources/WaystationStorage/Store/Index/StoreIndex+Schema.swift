import Foundation

extension StoreIndex {
    /// Makes the schema, or migrates that of an earlier version to the current one.
    static func prepareSchema(_ db: Database) throws {
        guard try state(of: db) != .current else { return }
        try db.transaction {
            // Another process may have made the tables while this one waited for the lock.
            switch try state(of: db) {
            case .current: break
            case .empty: try db.execute(tables + triggers + countingFiles + purgeTable + marks)
            case .version1: try db.execute(dropTriggers + triggers + countingFiles + purgeTable + marks)
            case .version2: try db.execute(countingFiles + purgeTable + marks)
            }
        }
    }

    /// Whether a database holds the tables of this index, in any version that this version can read.
    ///
    /// - Throws: ``IndexError`` when it holds tables of a later version, or only some of the tables.
    static func hasSchema(_ db: Database) throws -> Bool {
        guard try db.integer("PRAGMA application_id") == Int64(applicationID) else { return false }
        return try state(of: db) != .empty
    }

    /// Checks that a database is either this index, damaged or not, or still empty.
    ///
    /// - Throws: ``IndexError/foreign(applicationID:)`` when the database has another program's mark or tables.
    static func refuseForeign(_ db: Database) throws {
        let (application, objects) = try marks(of: db)
        guard application != applicationID, application != 0 || !objects.isEmpty else { return }
        // The mark may have been changed by damage: then the tables show that this is the store's index.
        guard objects.isDisjoint(with: schemaObjects) else { return }
        throw IndexError.foreign(applicationID: application)
    }

    /// The application ID of a database, and the names in its schema.
    private static func marks(of db: Database) throws -> (application: Int32, objects: Set<String>) {
        (
            Int32(truncatingIfNeeded: try db.integer("PRAGMA application_id") ?? 0),
            Set(try db.texts("SELECT name FROM sqlite_schema WHERE name IS NOT NULL"))
        )
    }

    private enum SchemaState {
        case empty
        /// Bodies in files were named at random, and each belonged to one row.
        ///
        /// The tables and columns are the same. A program of that version would remove a shared file with the first of
        /// its rows, so it must refuse the index: the higher version number makes it do so.
        case version1
        /// Nothing was purged by tag or group, and the size of the body files may not be counted.
        ///
        /// A program of that version would use what is purged, so it must refuse the index.
        case version2
        case current
    }

    private static func state(of db: Database) throws -> SchemaState {
        let (application, objects) = try marks(of: db)
        let version = Int(clamping: try db.integer("PRAGMA user_version") ?? 0)
        guard version <= schemaVersion else { throw IndexError.newerSchema(version) }
        if version == 0, objects.isEmpty { return .empty }
        guard version >= 1, application == applicationID, objects.isSuperset(of: schemaObjects) else {
            throw IndexError.damaged("does not have the marks and tables of a store")
        }
        switch version {
        case 1: return .version1
        case 2: return .version2
        default: break
        }
        guard objects.isSuperset(of: addedObjects) else {
            throw IndexError.damaged("does not have the tables of a store")
        }
        return .current
    }

    /// Those that later versions have added.
    private static let addedObjects: Set<String> = ["file_totals", "file_added", "file_removed", "purges"]

    private static let schemaObjects: Set<String> = [
        "responses", "responses_by_key", "responses_by_use", "responses_by_age", "responses_by_file", "totals", "added",
        "removed", "resized",
    ]

    private static let tables = """
        CREATE TABLE responses (
            id            INTEGER PRIMARY KEY AUTOINCREMENT,
            method        TEXT NOT NULL,
            url           TEXT NOT NULL,
            partition     TEXT NOT NULL,
            status        INTEGER NOT NULL,
            request_time  INTEGER NOT NULL,
            response_time INTEGER NOT NULL,
            last_used     INTEGER NOT NULL,
            size          INTEGER NOT NULL,
            seal          INTEGER NOT NULL,
            body_length   INTEGER NOT NULL,
            body_file     TEXT,
            vary          BLOB NOT NULL,
            fields        BLOB NOT NULL,
            block_sums    BLOB NOT NULL,
            body          BLOB
        );
        CREATE INDEX responses_by_key ON responses(url, method, partition);
        CREATE INDEX responses_by_use ON responses(last_used, size);
        CREATE INDEX responses_by_age ON responses(response_time);
        CREATE INDEX responses_by_file ON responses(body_file) WHERE body_file IS NOT NULL;
        CREATE TABLE totals (entries INTEGER NOT NULL, bytes INTEGER NOT NULL);
        INSERT INTO totals VALUES (0, 0);

        """

    /// A row counts its body unless another row already counts the same file.
    private static let triggers = """
        CREATE TRIGGER added AFTER INSERT ON responses BEGIN
            UPDATE totals SET entries = entries + 1, bytes = bytes + NEW.size - CASE
                WHEN NEW.body_file IS NOT NULL AND EXISTS
                    (SELECT 1 FROM responses WHERE body_file = NEW.body_file AND id <> NEW.id)
                THEN NEW.body_length ELSE 0 END;
        END;
        CREATE TRIGGER removed AFTER DELETE ON responses BEGIN
            UPDATE totals SET entries = entries - 1, bytes = bytes - OLD.size + CASE
                WHEN OLD.body_file IS NOT NULL AND EXISTS (SELECT 1 FROM responses WHERE body_file = OLD.body_file)
                THEN OLD.body_length ELSE 0 END;
        END;
        CREATE TRIGGER resized AFTER UPDATE OF size ON responses BEGIN
            UPDATE totals SET bytes = bytes + NEW.size - OLD.size;
        END;

        """

    /// Makes the count of body files; a file counts with the first of its rows, and until the last.
    private static let countingFiles = """
        DROP TABLE IF EXISTS file_totals;
        DROP TRIGGER IF EXISTS file_added;
        DROP TRIGGER IF EXISTS file_removed;
        CREATE TABLE file_totals (files INTEGER NOT NULL, bytes INTEGER NOT NULL);
        INSERT INTO file_totals \(fileSum);
        CREATE TRIGGER file_added AFTER INSERT ON responses WHEN NEW.body_file IS NOT NULL AND NOT EXISTS
            (SELECT 1 FROM responses WHERE body_file = NEW.body_file AND id <> NEW.id)
        BEGIN
            UPDATE file_totals SET files = files + 1, bytes = bytes + (NEW.body_length + 4095) / 4096 * 4096;
        END;
        CREATE TRIGGER file_removed AFTER DELETE ON responses WHEN OLD.body_file IS NOT NULL AND NOT EXISTS
            (SELECT 1 FROM responses WHERE body_file = OLD.body_file)
        BEGIN
            UPDATE file_totals SET files = files - 1, bytes = bytes - (OLD.body_length + 4095) / 4096 * 4096;
        END;

        """

    private static let dropTriggers = "DROP TRIGGER added; DROP TRIGGER removed; DROP TRIGGER resized;\n"

    private static let marks = """
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(schemaVersion);
        """

    /// The query for the correct values of `file_totals`.
    private static let fileSum = """
        SELECT count(*), coalesce(sum((length + 4095) / 4096 * 4096), 0)
        FROM (SELECT max(body_length) AS length FROM responses WHERE body_file IS NOT NULL GROUP BY body_file)
        """

    /// The query for the correct values of `totals`; it reads indices, and reads rows only for bodies that are shared.
    ///
    /// The bytes are the sizes of all rows, minus the body length of a shared file for each row that names it beyond
    /// the first.
    static let sum = """
        SELECT count(*), coalesce(sum(size), 0)
               - (SELECT coalesce(sum((holders - 1) * (SELECT body_length FROM responses
                                                       WHERE body_file = shared.file LIMIT 1)), 0)
                  FROM (SELECT body_file AS file, count(*) AS holders FROM responses WHERE body_file IS NOT NULL
                        GROUP BY body_file HAVING count(*) > 1) AS shared)
        FROM responses
        """

    /// Whether `totals` is correct, as a query for 0 or 1.
    static let areTotalsRight =
        "SELECT count(*) = 1 AND (SELECT (entries, bytes) = (\(sum)) FROM totals) FROM totals"

    /// Whether `file_totals` is correct, as a query for 0 or 1.
    private static let areFileTotalsRight =
        "SELECT count(*) = 1 AND (SELECT (files, bytes) = (\(fileSum)) FROM file_totals) FROM file_totals"
}

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

    /// Copies the log into the index and makes it empty, after waiting for its readers and for other processes that
    /// empty it.
    ///
    /// Look-ups of all processes go on meanwhile.
    ///
    /// - Parameter seconds: How long to wait, in seconds.
    /// - Throws: A `SQLiteError`.
    /// - Returns: Whether the log is empty now.
    @discardableResult
    func emptyLog(waiting seconds: Double) throws -> Bool {
        try writer.use { db in
            let before = try db.integer("PRAGMA busy_timeout") ?? 0
            try db.execute("PRAGMA busy_timeout = \(Int(min(seconds, 0.05) * 1_000))")
            defer { try? db.execute("PRAGMA busy_timeout = \(before)") }
            let state = keys.begin()
            defer { keys.logWasEmptied(after: state) }
            let deadline = ContinuousClock.now + .seconds(seconds)
            // SQLite waits for readers, but returns at once while another process empties the log.
            while try db.integer("PRAGMA wal_checkpoint(TRUNCATE)") != 0 {
                guard ContinuousClock.now < deadline else { return false }
                Thread.sleep(forTimeInterval: 0.005)
            }
            return true
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
