import Foundation
import SiteTools
import WaystationHTTP

/// All the data of a report, read from a crawl's journal at once.
struct ReportData: Sendable {
    var settings: CrawlSettings
    var summary = CrawlSummary()
    /// The resources that were tried, in the order of starting.
    var records: [LoadRecord]
    var linkCount: Int
    /// The number of resources that were found but not wanted, by reason.
    var skipped: [(reason: String, count: Int)]
    /// Broken and failed resources, with the documents that link to them.
    var troubles: [(record: LoadRecord, referrers: [Journal.Referrer])]
    var offline: Journal.OfflineTotals?
    var offlineFindings: [(url: String, verdict: String, detail: String)]

    init(_ journal: Journal) throws {
        settings = try journal.settings ?? CrawlSettings()
        let resources = try journal.resources()
        // The crawler tried /sitemap.xml without a link to it, so its absence is not reported.
        records = try journal.loadRecords()
            .filter { $0.state == .loaded || resources[$0.id].kind != .sitemapGuess }
            .sorted { $0.startedAt < $1.startedAt }
        for record in records { summary.count(record) }
        linkCount = try journal.linkCount
        let states = Dictionary(grouping: resources, by: \.state).mapValues(\.count)
        skipped = [
            ("on other sites", states[.outside]), ("disallowed by robots.txt", states[.disallowedByRobots]),
            ("beyond the depth", states[.tooDeep]), ("excluded by pattern", states[.excluded]),
            ("left over because of a limit", states[.queued]),
        ].compactMap { reason, count in count.map { (reason, $0) } }
        let failed = records.filter { $0.state == .broken || $0.state == .failed }
        let referrers = try journal.referrers(of: failed.map(\.id))
        troubles = failed.map { ($0, referrers[$0.id] ?? []) }
        offline = try journal.offlineTotals
        offlineFindings = try journal.offlineFindings()
    }

    /// The host that was crawled, for headings.
    var name: String {
        let hosts = settings.startURLs.compactMap { CanonicalURL(page: $0).map { String($0.host) } }
        return hosts.first.map { hosts.count > 1 ? "\($0) and \(hosts.count - 1) more" : $0 } ?? "a crawl"
    }
}

/// The kinds of files, with readable names.
enum MediaClass: String, CaseIterable, Sendable {
    case page = "Pages"
    case image = "Images"
    case style = "Styles"
    case script = "Scripts"
    case font = "Fonts"
    case media = "Audio and video"
    case other = "Other"

    init(_ record: LoadRecord) {
        let type = record.mimeType ?? ""
        if record.isPage {
            self = .page
        } else if type.hasPrefix("image/") {
            self = .image
        } else if type == "text/css" {
            self = .style
        } else if type.hasSuffix("javascript") || type == "application/wasm" {
            self = .script
        } else if type.hasPrefix("font/") || type.contains("font") {
            self = .font
        } else if type.hasPrefix("video/") || type.hasPrefix("audio/") {
            self = .media
        } else {
            self = .other
        }
    }

    /// The name of the kind's colour in the style sheet.
    var colour: String {
        switch self {
        case .page: "page"
        case .image: "image"
        case .style: "style"
        case .script: "script"
        case .font: "font"
        case .media: "media"
        case .other: "other"
        }
    }
}
