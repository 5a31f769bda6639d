import GRDB

extension StoreIndex {
    /// Makes the schema, or brings that of an earlier version up to this one.
    static func prepareSchema(_ db: Database) throws {
        guard try state(of: db) != .current else { return }
        try db.inTransaction(.immediate) {
            // Another process may have done it while this one waited for its turn.
            switch try state(of: db) {
            case .current: return .rollback
            case .empty: try db.execute(sql: tables + triggers + marks)
            case .version1: try db.execute(sql: dropTriggers + triggers + marks)
            }
            return .commit
        }
    }

    /// Whether a database holds the tables of this index, in any version that can be read.
    ///
    /// - Throws: ``IndexError`` when it holds those of a later version, or only part of them.
    static func hasSchema(_ db: Database) throws -> Bool {
        guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == applicationID else { return false }
        return try state(of: db) != .empty
    }

    /// Checks that a database is this index, damaged or not, or nothing yet.
    ///
    /// - Throws: ``IndexError/foreign(applicationID:)`` when another program marked it as its own or has tables in it.
    static func refuseForeign(_ db: Database) throws {
        let (application, objects) = try marks(of: db)
        guard application != applicationID, application != 0 || !objects.isEmpty else { return }
        // A mark that damage has changed stands above the tables of this index.
        guard objects.isDisjoint(with: schemaObjects) else { return }
        throw IndexError.foreign(applicationID: application)
    }

    /// What a database says it is: its program's mark and the names in its schema.
    private static func marks(of db: Database) throws -> (application: Int32, objects: Set<String>) {
        (
            try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0,
            try Set(String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE name IS NOT NULL"))
        )
    }

    private enum SchemaState {
        case empty
        /// Bodies in files were named at random, and each belonged to one row.
        ///
        /// Tables and columns are the same. A program of that time would remove a shared file with the first of its
        /// rows, so it must refuse the index: that is what the version says.
        case version1
        case current
    }

    private static func state(of db: Database) throws -> SchemaState {
        let (application, objects) = try marks(of: db)
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        guard version <= schemaVersion else { throw IndexError.newerSchema(version) }
        if version == 0, objects.isEmpty { return .empty }
        guard version >= 1, application == applicationID, objects.isSuperset(of: schemaObjects) else {
            throw IndexError.damaged("is not an index of this kind")
        }
        return version == schemaVersion ? .current : .version1
    }

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

    /// A row counts its body unless another row has counted the same file.
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

    private static let dropTriggers = "DROP TRIGGER added; DROP TRIGGER removed; DROP TRIGGER resized;\n"

    private static let marks = """
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(schemaVersion);
        """

    /// What ``totals`` must be; reads indices, and rows only of bodies that are shared.
    ///
    /// The bytes are those of all rows without what files count for their second row and those after it.
    static let sum = """
        SELECT count(*), coalesce(sum(size), 0)
               - (SELECT coalesce(sum((holders - 1) * (SELECT body_length FROM responses
                                                       WHERE body_file = shared.file LIMIT 1)), 0)
                  FROM (SELECT body_file AS file, count(*) AS holders FROM responses WHERE body_file IS NOT NULL
                        GROUP BY body_file HAVING count(*) > 1) AS shared)
        FROM responses
        """
}
