extension StoreIndex {
    /// Makes the schema, or migrates that of an earlier version to the current one.
    static func prepareSchema(_ db: Database) throws {
        guard try state(of: db) != .current else { return }
        try db.transaction {
            // Another process may have made the tables while this one waited for the lock.
            switch try state(of: db) {
            case .current: break
            case .empty: try db.execute(tables + triggers + countingFiles + marks)
            case .version1: try db.execute(dropTriggers + triggers + countingFiles + marks)
            case .filesUncounted: try db.execute(countingFiles)
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
        /// The size of the body files is not counted.
        ///
        /// Programs that know no `file_totals` keep it up to date, since its triggers do that: so the version stays.
        case filesUncounted
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
        guard version == schemaVersion else { return .version1 }
        return objects.isSuperset(of: fileCountObjects) ? .current : .filesUncounted
    }

    private static let fileCountObjects: Set<String> = ["file_totals", "file_added", "file_removed"]

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
    static let fileSum = """
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
    static let areFileTotalsRight =
        "SELECT count(*) = 1 AND (SELECT (files, bytes) = (\(fileSum)) FROM file_totals) FROM file_totals"
}
