import Foundation
import GRDB

/// The outcome of an offline check.
struct OfflineResult: Sendable {
    struct Finding: Sendable {
        let id: Int?
        let url: String
        let detail: String
        var referrers: [Journal.Referrer] = []
    }

    var pages = 0
    var resources = 0
    /// Loaded by the crawl or linked by the site, but not available offline.
    var missing: [Finding] = []
    /// Answered offline with other bytes.
    var differing: [Finding] = []
    /// Not loaded in the crawl either; an error of the site, not of the archive.
    var broken: [Finding] = []
    /// The number of URLs that were never tried, because the crawl stopped at a limit.
    var leftOver = 0
    var seconds: TimeInterval = 0

    var isWhole: Bool { missing.isEmpty && differing.isEmpty }

    /// The summary line: `offline: 120 pages, 48 resources, 0 missing, 0 differing`.
    var line: String {
        "offline: \(pages) pages, \(resources) resources, \(missing.count) missing, \(differing.count) differing"
    }

    mutating func sort() {
        missing.sort { $0.url < $1.url }
        differing.sort { $0.url < $1.url }
        broken.sort { $0.url < $1.url }
    }

    mutating func addReferrers(_ referrers: (Int) -> [Journal.Referrer]) {
        func added(_ findings: [Finding]) -> [Finding] {
            findings.map { finding in
                var finding = finding
                if finding.referrers.isEmpty, let id = finding.id { finding.referrers = referrers(id) }
                return finding
            }
        }
        missing = added(missing)
        differing = added(differing)
        broken = added(broken)
    }
}

extension Journal {
    /// The totals of the last check; its findings are in the table `offline`.
    struct OfflineTotals: Codable, Sendable {
        var pages: Int
        var resources: Int
        var missing: Int
        var differing: Int
        var seconds: TimeInterval
        var checkedAt: Date
    }

    func save(_ result: OfflineResult, at time: Date) throws {
        let totals = OfflineTotals(
            pages: result.pages,
            resources: result.resources,
            missing: result.missing.count,
            differing: result.differing.count,
            seconds: result.seconds,
            checkedAt: time
        )
        let text = String(decoding: try JSONEncoder().encode(totals), as: UTF8.self)
        try database.write { database in
            try database.execute(
                sql: "INSERT OR REPLACE INTO setting (key, value) VALUES ('offline', ?)",
                arguments: [text]
            )
            try database.execute(sql: "DELETE FROM offline")
            for (verdict, findings) in [("missing", result.missing), ("differing", result.differing)] {
                for finding in findings {
                    try database.execute(
                        sql: "INSERT INTO offline (url, verdict, detail) VALUES (?, ?, ?)",
                        arguments: [finding.url, verdict, finding.detail]
                    )
                }
            }
        }
    }

    var offlineTotals: OfflineTotals? {
        get throws {
            let text = try database.read {
                try String.fetchOne($0, sql: "SELECT value FROM setting WHERE key = 'offline'")
            }
            return try text.map { try JSONDecoder().decode(OfflineTotals.self, from: Data($0.utf8)) }
        }
    }

    func offlineFindings() throws -> [(url: String, verdict: String, detail: String)] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT url, verdict, detail FROM offline ORDER BY verdict, url")
                .map { ($0[0], $0[1], $0[2]) }
        }
    }
}
