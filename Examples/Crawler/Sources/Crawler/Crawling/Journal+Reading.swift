import Foundation
import GRDB
import SiteTools
import WaystationHTTP

extension Journal {
    // MARK: Settings and runs

    var settings: CrawlSettings? {
        get throws {
            let text = try database.read {
                try String.fetchOne($0, sql: "SELECT value FROM setting WHERE key = 'settings'")
            }
            return try text.map { try JSONDecoder().decode(CrawlSettings.self, from: Data($0.utf8)) }
        }
    }

    func save(_ settings: CrawlSettings) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(settings), as: UTF8.self)
        try database.write {
            try $0.execute(
                sql: "INSERT OR REPLACE INTO setting (key, value) VALUES ('settings', ?)",
                arguments: [text]
            )
        }
    }

    func beginRun(at time: Date) throws -> Int64 {
        try database.write {
            try $0.execute(sql: "INSERT INTO run (startedAt) VALUES (?)", arguments: [time.timeIntervalSince1970])
            return $0.lastInsertedRowID
        }
    }

    func endRun(_ run: Int64, at time: Date, reason: String) throws {
        try database.write {
            try $0.execute(
                sql: "UPDATE run SET endedAt = ?, reason = ? WHERE id = ?",
                arguments: [time.timeIntervalSince1970, reason, run]
            )
        }
    }

    /// The reason why the last run ended; nil if it was cut off, or if there was none.
    var lastRunEnd: String? {
        get throws {
            try database.read {
                try String.fetchOne($0, sql: "SELECT reason FROM run ORDER BY id DESC LIMIT 1")
            }
        }
    }

    // MARK: Results

    /// The error of a journal in which a resource is missing or cannot be read.
    struct MissingResource: LocalizedError {
        let id: Int

        var errorDescription: String? {
            """
            crawl.sqlite is damaged: resource \(id) is missing. Delete crawl.sqlite and name the start pages again: \
            the responses stay in the archive and are not loaded again
            """
        }
    }

    /// All resources in the order of their ids, which have no gaps in a journal that is not damaged.
    func resources() throws -> [Resource] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT id, url, kind, depth, state, linkCharset FROM resource ORDER BY id")
                .compactMap { row in
                    guard let url = CanonicalURL(page: row["url"] as String),
                        let kind = LinkKind(rawValue: row["kind"]), let state = Resource.State(rawValue: row["state"])
                    else { return nil }
                    return Resource(
                        id: row["id"],
                        url: url,
                        kind: kind,
                        depth: row["depth"],
                        state: state,
                        linkCharset: row["linkCharset"]
                    )
                }
        }
    }

    /// The resources that were loaded or tried, in the order of ids.
    func loadRecords() throws -> [LoadRecord] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM resource WHERE startedAt IS NOT NULL ORDER BY id")
                .compactMap { row in
                    guard let url = CanonicalURL(page: row["url"] as String),
                        let state = Resource.State(rawValue: row["state"])
                    else { return nil }
                    return LoadRecord(
                        id: row["id"],
                        url: url,
                        state: state,
                        isPage: row["isPage"],
                        status: row["status"],
                        mimeType: row["mimeType"],
                        size: row["size"],
                        digest: row["digest"],
                        finalURL: (row["finalURL"] as String?).flatMap { CanonicalURL(page: $0) },
                        error: row["error"],
                        startedAt: Date(timeIntervalSince1970: row["startedAt"]),
                        duration: row["duration"],
                        attempts: row["attempts"],
                        isFromArchive: row["isFromArchive"]
                    )
                }
        }
    }

    struct Referrer: Sendable, Hashable {
        let url: String
        let kind: String
    }

    /// The documents that link to these resources, a few for each.
    func referrers(of ids: some Sequence<Int>, limit: Int = 5) throws -> [Int: [Referrer]] {
        try database.write { try $0.execute(sql: "CREATE INDEX IF NOT EXISTS linkTarget ON link (target)") }
        return try database.read { database in
            let statement = try database.makeStatement(
                sql: """
                    SELECT DISTINCT url, link.kind FROM link JOIN resource ON resource.id = source
                    WHERE target = ? ORDER BY source LIMIT ?
                    """
            )
            return try ids.reduce(into: [:]) { referrers, id in
                referrers[id] = try Row.fetchAll(statement, arguments: [id, limit]).map { row in
                    Referrer(url: row[0], kind: LinkKind(rawValue: row[1])?.name ?? "link")
                }
            }
        }
    }

    struct KnownRobots: Sendable {
        let origin: String
        let status: Int?
        let body: Data
        let error: String?
    }

    func knownRobots() throws -> [KnownRobots] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT origin, status, robots, error FROM origin").map {
                KnownRobots(origin: $0[0], status: $0[1], body: $0[2], error: $0[3])
            }
        }
    }

    var linkCount: Int {
        get throws { try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM link") ?? 0 } }
    }
}
