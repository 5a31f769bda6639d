import Foundation
import GRDB
import SiteTools
import WaystationHTTP

/// The tables of `crawl.sqlite`, which `Journal` describes.
enum JournalSchema {
    static func create(in database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS origin (
                    origin TEXT PRIMARY KEY, status INTEGER, robots BLOB NOT NULL, error TEXT) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS resource (
                    id INTEGER PRIMARY KEY, url TEXT NOT NULL, kind INTEGER NOT NULL, depth INTEGER NOT NULL,
                    state INTEGER NOT NULL, isPage INTEGER NOT NULL DEFAULT 0, status INTEGER, mimeType TEXT,
                    size INTEGER NOT NULL DEFAULT 0, digest BLOB, finalURL TEXT, error TEXT, startedAt REAL,
                    duration REAL, attempts INTEGER NOT NULL DEFAULT 0, isFromArchive INTEGER NOT NULL DEFAULT 0,
                    linkCharset TEXT);
                CREATE TABLE IF NOT EXISTS link (
                    source INTEGER NOT NULL, target INTEGER NOT NULL, kind INTEGER NOT NULL);
                CREATE TABLE IF NOT EXISTS run (
                    id INTEGER PRIMARY KEY, startedAt REAL NOT NULL, endedAt REAL, reason TEXT);
                CREATE TABLE IF NOT EXISTS offline (
                    url TEXT NOT NULL, verdict TEXT NOT NULL, detail TEXT NOT NULL);
                """
        )
        // A journal of an earlier version does not have it.
        if try !database.columns(in: "resource").contains(where: { $0.name == "linkCharset" }) {
            try database.execute(sql: "ALTER TABLE resource ADD COLUMN linkCharset TEXT")
        }
    }
}

extension Journal.Entry {
    func write(to database: Database) throws {
        switch self {
        case .found(let resource):
            try database.cachedStatement(
                sql:
                    "INSERT OR REPLACE INTO resource (id, url, kind, depth, state, linkCharset) VALUES (?, ?, ?, ?, ?, ?)"
            ).execute(arguments: [
                resource.id, resource.url.string, resource.kind.rawValue, resource.depth, resource.state.rawValue,
                resource.linkCharset,
            ])
        case .changed(let resource):
            try database.cachedStatement(
                sql: "UPDATE resource SET kind = ?, depth = ?, state = ?, linkCharset = ? WHERE id = ?"
            ).execute(arguments: [
                resource.kind.rawValue, resource.depth, resource.state.rawValue, resource.linkCharset, resource.id,
            ])
        case .finished(let record):
            try write(record, to: database)
        case .links(let source, let links):
            let statement = try database.cachedStatement(
                sql: "INSERT INTO link (source, target, kind) VALUES (?, ?, ?)"
            )
            for link in links { try statement.execute(arguments: [source, link.target, link.kind.rawValue]) }
        case .robots(let origin, let status, let body, let error):
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO origin (origin, status, robots, error) VALUES (?, ?, ?, ?)"
            ).execute(arguments: [origin, status, body, error])
        }
    }

    private func write(_ record: LoadRecord, to database: Database) throws {
        try database.cachedStatement(
            sql: """
                UPDATE resource SET state = ?, isPage = ?, status = ?, mimeType = ?, size = ?, digest = ?,
                    finalURL = ?, error = ?, startedAt = ?, duration = ?, attempts = ?, isFromArchive = ?
                WHERE id = ?
                """
        ).execute(arguments: [
            record.state.rawValue, record.isPage, record.status, record.mimeType, record.size, record.digest,
            record.finalURL?.string, record.error, record.startedAt.timeIntervalSince1970, record.duration,
            record.attempts, record.isFromArchive, record.id,
        ])
    }
}
