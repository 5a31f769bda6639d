import Foundation
import FoundationNetworking
import SiteTools
import WaystationHTTP

/// Loads a crawled site again with the network denied, and compares it with the responses of the crawl.
struct OfflineCheck: Sendable {
    let settings: CrawlSettings
    let journal: Journal
    /// The loader of a session that answers only from the archive.
    let loader: Loader
    /// The number of simultaneous loads.
    var concurrency = 16

    /// Loads and compares everything; `progress` is called after each document with the number of finished and of all
    /// documents.
    func run(progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }) async throws -> OfflineResult {
        let clock = ContinuousClock()
        let start = clock.now
        let records = try journal.loadRecords()
        let known = try journal.resources()
        var expectations = Expectations(
            scope: Scope(settings),
            resources: known,
            isComplete: try journal.lastRunEnd == "complete",
            obeysRobots: settings.obeysRobots
        )

        let loaded = records.filter { $0.state == .loaded }
        var result = OfflineResult(
            pages: loaded.lazy.filter(\.isPage).count,
            resources: loaded.lazy.filter { !$0.isPage }.count
        )
        var remaining = loaded.makeIterator()
        var done = 0
        await withTaskGroup(of: Revisit.self) { group in
            for _ in 0..<concurrency {
                guard let record = remaining.next() else { break }
                group.addTask { await revisit(record, of: known[record.id]) }
            }
            while let revisit = await group.next() {
                if let record = remaining.next() {
                    group.addTask { await self.revisit(record, of: known[record.id]) }
                }
                done += 1
                progress(done, loaded.count)
                switch revisit.verdict {
                case .same:
                    expectations.check(revisit.links, of: revisit.record)
                case .missing(let reason):
                    result.missing.append(.init(id: revisit.record.id, url: revisit.record.url.string, detail: reason))
                case .differing(let difference):
                    result.differing.append(
                        .init(id: revisit.record.id, url: revisit.record.url.string, detail: difference)
                    )
                }
            }
        }
        try Task.checkCancellation()
        result.missing += expectations.unseen
        result.broken = records.filter { $0.state == .broken || $0.state == .failed }
            .filter { known[$0.id].kind != .sitemapGuess }
            .map { .init(id: $0.id, url: $0.url.string, detail: $0.error ?? $0.status.map { "status \($0)" } ?? "") }
        result.leftOver = known.lazy.filter { $0.state == .queued }.count
        result.seconds = (clock.now - start) / .seconds(1)
        result.sort()
        try addReferrers(to: &result)
        return result
    }

    // MARK: One document

    private struct Revisit: Sendable {
        enum Verdict: Sendable {
            case same
            case missing(String)
            case differing(String)
        }

        let record: LoadRecord
        let verdict: Verdict
        var links = ExtractedLinks()
    }

    private func revisit(_ record: LoadRecord, of resource: Resource) async -> Revisit {
        let visitor = Visitor(loader: loader, agent: settings.productToken)
        switch await visitor.visit(resource).result {
        case .cancelled:
            return Revisit(record: record, verdict: .missing("cancelled"))
        case .failed(_, let message):
            return Revisit(record: record, verdict: .missing(record.error ?? message))
        case .answered(let response, let links):
            // An answer from anywhere else, whatever it is, proves nothing about being offline.
            guard response.isFromArchive else {
                return Revisit(record: record, verdict: .missing("not answered by the archive"))
            }
            if response.status != record.status {
                let difference = "status \(response.status), was \(record.status.map(String.init) ?? "none")"
                return Revisit(record: record, verdict: .differing(difference))
            }
            if response.digest != record.digest {
                let difference = "\(response.size) bytes, were \(record.size); SHA-256 differs"
                return Revisit(record: record, verdict: .differing(difference))
            }
            return Revisit(record: record, verdict: .same, links: links)
        }
    }

    private func addReferrers(to result: inout OfflineResult) throws {
        let findings = result.missing + result.differing + result.broken
        let referrers = try journal.referrers(of: Set(findings.compactMap(\.id)))
        result.addReferrers { referrers[$0] ?? [] }
    }
}

/// Compares the links in the pages themselves with the resources of the crawl: a page may be there and its picture
/// missing.
private struct Expectations {
    private let scope: Scope
    private let byURL: [CanonicalURL: Resource]
    private let isComplete: Bool
    private let obeysRobots: Bool
    private var reported: Set<CanonicalURL> = []
    private(set) var unseen: [OfflineResult.Finding] = []

    init(scope: Scope, resources: [Resource], isComplete: Bool, obeysRobots: Bool) {
        self.scope = scope
        self.isComplete = isComplete
        self.obeysRobots = obeysRobots
        byURL = Dictionary(resources.map { ($0.url, $0) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func check(_ extracted: ExtractedLinks, of record: LoadRecord) {
        guard let page = byURL[record.url] else { return }
        let url = record.finalURL ?? record.url
        let finding = Scope.Finding(
            depth: page.depth,
            isInside: scope.contains(url) || page.kind.isSitemap || (page.kind == .start && record.finalURL == nil),
            isStylesheet: record.mimeType == "text/css"
        )
        for link in extracted.links {
            if extracted.isNofollow, obeysRobots, !link.kind.isRequisite { continue }
            guard scope.verdict(on: link, from: finding) == .load else { continue }
            let detail: String
            switch byURL[link.url]?.state {
            case nil: detail = "never seen by the crawl"
            case .queued where isComplete: detail = "never loaded"
            default: continue
            }
            guard reported.insert(link.url).inserted else { continue }
            unseen.append(
                .init(
                    id: nil,
                    url: link.url.string,
                    detail: detail,
                    referrers: [Journal.Referrer(url: record.url.string, kind: link.kind.name)]
                )
            )
        }
    }
}
