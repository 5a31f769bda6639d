import Foundation
import FoundationNetworking
import SiteTools
import WaystationHTTP

/// Runs one crawl: takes resources from the frontier, loads them, reads their links, and records everything in the
/// journal.
///
/// The actor only keeps the state. Loading, hashing and parsing run in child tasks, on all processors.
actor Crawl {
    private let settings: CrawlSettings
    private let journal: Journal
    private let visitor: Visitor
    private let retryPolicy: RetryPolicy
    private let observer: any CrawlObserver
    private let clock = ContinuousClock()
    private let startInstant: ContinuousClock.Instant

    private var frontier: Frontier
    private var summary = CrawlSummary()
    private var runBytes = 0
    private var pagesInFlight: Set<Int> = []
    private var timer: Duration?

    init(settings: CrawlSettings, journal: Journal, loader: Loader, observer: any CrawlObserver) {
        self.settings = settings
        self.journal = journal
        self.observer = observer
        visitor = Visitor(loader: loader, agent: settings.productToken)
        retryPolicy = RetryPolicy(retries: settings.retries)
        frontier = Frontier(settings: settings)
        startInstant = clock.now
    }

    /// Crawls until nothing is left, a limit is reached or the task is cancelled.
    ///
    /// When it returns, everything is in the journal, and the journal is closed.
    /// - Throws: The error that prevented the journal from being written.
    func run() async throws -> CrawlSummary {
        let run = try journal.beginRun(at: Date())
        try restore()
        observer.observe(.began(settings: settings, known: frontier.resources.count))
        for url in settings.startURLs.compactMap({ CanonicalURL(page: $0) }) {
            note(discover([FoundLink(url: url, kind: .start)], from: Scope.Finding(depth: 0, isInside: true)).entries)
        }
        summary.end = try await withThrowingTaskGroup(of: Completion.self) { group in
            defer { group.cancelAll() }
            return try await drive(&group)
        }
        summary.leftOver = frontier.resources.lazy.filter { $0.state == .queued }.count
        summary.seconds = elapsed
        try journal.endRun(run, at: Date(), reason: summary.end.rawValue)
        try await journal.close()
        observer.observe(.ended(summary))
        return summary
    }

    // MARK: The loop

    private enum Completion: Sendable {
        case visited(id: Int, attempt: Int, Visitor.Outcome)
        case robots(origin: String, Visitor.RobotsOutcome)
        case woke
    }

    private func drive(_ group: inout ThrowingTaskGroup<Completion, any Error>) async throws -> CrawlSummary.End {
        while true {
            try journal.check()
            if Task.isCancelled { return .interrupted }
            if let end = fill(&group) { return end }
            guard let completion = try await group.next() else { return .complete }
            switch completion {
            case .visited(let id, let attempt, let outcome): settle(id, attempt: attempt, outcome)
            case .robots(let origin, let outcome): settle(origin, outcome)
            case .woke: timer = nil
            }
        }
    }

    /// Starts all loads that may be started.
    ///
    /// Non-nil when no more loads will follow.
    private func fill(_ group: inout ThrowingTaskGroup<Completion, any Error>) -> CrawlSummary.End? {
        while true {
            if let limit = reachedLimit { return frontier.inFlightCount == 0 ? limit : nil }
            switch frontier.next(now: now, allowsPages: allowsPages) {
            case .load(let id, let attempt):
                let resource = frontier.resources[id]
                if !resource.kind.isRequisite { pagesInFlight.insert(id) }
                group.addTask { [visitor] in
                    .visited(id: id, attempt: attempt, await visitor.visit(resource))
                }
            case .askRobots(let origin):
                group.addTask { [visitor] in .robots(origin: origin, await visitor.robots(of: origin)) }
            case .refuse(let id, let reason):
                refuse(id, reason)
            case .wait(let time):
                if timer.map({ time < $0 }) ?? true {
                    timer = time
                    let deadline = startInstant + time
                    group.addTask { [clock] in
                        try? await clock.sleep(until: deadline)
                        return .woke
                    }
                }
                return nil
            case .blocked:
                // Only pages are left, and the limit of pages is reached.
                return frontier.inFlightCount == 0 ? .pageLimit : nil
            case .finished:
                return .complete
            }
        }
    }

    private var now: Duration { startInstant.duration(to: clock.now) }
    private var elapsed: TimeInterval { now / .seconds(1) }

    private var allowsPages: Bool {
        settings.maximumPages.map { summary.pages + pagesInFlight.count < $0 } ?? true
    }

    private var reachedLimit: CrawlSummary.End? {
        if let limit = settings.maximumBytes, runBytes >= limit, frontier.queuedCount > 0 { return .byteLimit }
        if let limit = settings.maximumSeconds, elapsed >= limit, frontier.queuedCount > 0 { return .timeLimit }
        return nil
    }

    // MARK: Settling

    private func settle(_ id: Int, attempt: Int, _ outcome: Visitor.Outcome) {
        pagesInFlight.remove(id)
        let url = frontier.resources[id].url
        var record = LoadRecord(
            id: id,
            url: url,
            state: .failed,
            startedAt: outcome.startedAt,
            duration: outcome.duration,
            attempts: attempt
        )
        var links = ExtractedLinks()
        let decision: RetryPolicy.Decision
        switch outcome.result {
        case .cancelled:
            // The resource stays queued in the journal, and is the first to be loaded when the crawl continues.
            return frontier.retry(id, at: .zero, pausesHost: false)
        case .failed(let code, let message):
            decision = retryPolicy.decision(error: code, attempt: attempt)
            record.error = message
        case .answered(let response, let extracted):
            decision = retryPolicy.decision(
                status: response.status,
                retryAfter: response.retryAfter,
                attempt: attempt,
                now: Date()
            )
            record.take(response)
            record.isPage = extracted.isPage && record.state == .loaded
            record.error = record.error ?? extracted.problem
            links = extracted
        }
        if case .retry(let delay, let pausesHost) = decision {
            frontier.retry(id, at: now + delay, pausesHost: pausesHost)
            let reason = record.error ?? record.status.map { "status \($0)" } ?? "no answer"
            return observer.observe(.retrying(url, reason: reason, attempt: attempt, after: delay))
        }
        frontier.finish(id, as: record.state)
        // The links are recorded before the end of the document: after a restart both are there, or the archive is
        // asked again.
        var entries = record.state == .loaded ? follow(links, of: record) : []
        entries.append(.finished(record))
        note(entries)
        finish(record)
    }

    private func finish(_ record: LoadRecord) {
        // The crawler tried /sitemap.xml without a link to it, so a missing file is not an error of the site.
        if frontier.resources[record.id].kind == .sitemapGuess, record.state != .loaded { return }
        defer { observer.observe(.settled(record, progress)) }
        summary.count(record)
        guard record.state == .loaded else { return }
        runBytes += record.size
        if record.isFromArchive { summary.fromArchive += 1 } else { summary.fromNetwork += 1 }
    }

    private func follow(_ extracted: ExtractedLinks, of record: LoadRecord) -> [Journal.Entry] {
        let finding = frontier.finding(
            for: record.id,
            finalURL: record.finalURL,
            isStylesheet: record.mimeType == "text/css"
        )
        var links = extracted.links
        if extracted.isNofollow, settings.obeysRobots { links.removeAll { !$0.kind.isRequisite } }
        // Links in documents of other sites are not followed.
        if !finding.isInside, !finding.isStylesheet { links = [] }
        if let finalURL = record.finalURL, !frontier.resources[record.id].kind.isRequisite {
            links.append(FoundLink(url: finalURL, kind: .redirect))
        }
        let (entries, targets) = discover(links, from: finding)
        return targets.isEmpty ? entries : entries + [.links(source: record.id, targets)]
    }

    private func discover(
        _ links: [FoundLink],
        from finding: Scope.Finding
    ) -> (entries: [Journal.Entry], targets: [(target: Int, kind: LinkKind)]) {
        var entries: [Journal.Entry] = []
        let targets = links.map { link in
            let discovery = frontier.discover(link, from: finding)
            switch discovery {
            case .known: break
            case .added(let id): entries.append(.found(frontier.resources[id]))
            case .changed(let id): entries.append(.changed(frontier.resources[id]))
            }
            return (target: discovery.id, kind: link.kind)
        }
        return (entries, targets)
    }

    private func refuse(_ id: Int, _ refusal: Frontier.Refusal) {
        switch refusal {
        case .disallowed:
            frontier.finish(id, as: .disallowedByRobots)
            summary.disallowed += 1
            note([.changed(frontier.resources[id])])
            observer.observe(.disallowed(frontier.resources[id].url))
        case .unreachable(let reason):
            frontier.finish(id, as: .failed)
            let record = LoadRecord(
                id: id,
                url: frontier.resources[id].url,
                state: .failed,
                error: reason,
                startedAt: Date(),
                duration: 0,
                attempts: 0
            )
            note([.finished(record)])
            finish(record)
        }
    }

    private func settle(_ origin: String, _ outcome: Visitor.RobotsOutcome) {
        frontier.setRobots(outcome.robots, for: origin)
        note([.robots(origin: origin, status: outcome.status, body: outcome.body, error: outcome.error)])
        if outcome.error == nil { offerSitemaps(of: origin, named: outcome.sitemaps) }
    }

    /// Reads the sitemaps of the start pages' sites only, not those of hosts that merely provide an image.
    private func offerSitemaps(of origin: String, named: [String]) {
        let starts = settings.startURLs.compactMap { CanonicalURL(page: $0) }
        guard settings.readsSitemaps, settings.scope != .page, settings.depth != 0,
            starts.contains(where: { $0.origin == origin }),
            let root = CanonicalURL(page: origin)
        else { return }
        var links = named.compactMap { CanonicalURL($0, relativeTo: root) }.map { FoundLink(url: $0, kind: .sitemap) }
        if links.isEmpty, let guess = CanonicalURL("/sitemap.xml", relativeTo: root) {
            links = [FoundLink(url: guess, kind: .sitemapGuess)]
        }
        note(discover(links, from: Scope.Finding(depth: 0, isInside: true)).entries)
    }

    private var progress: CrawlProgress {
        let waiting = frontier.queuedCount + frontier.inFlightCount
        let done = summary.pages + summary.resources + summary.broken + summary.failed
        return CrawlProgress(done: done, known: done + waiting, bytes: summary.bytes, elapsed: elapsed)
    }

    private func note(_ entries: [Journal.Entry]) {
        journal.note(entries)
    }

    // MARK: Continuing after a break

    private func restore() throws {
        for known in try journal.knownRobots() where known.error == nil && settings.obeysRobots {
            let rules = RobotsRules(status: known.status ?? 0, body: [UInt8](known.body), agent: settings.productToken)
            frontier.setRobots(.known(rules), for: known.origin)
        }
        for resource in try journal.resources() {
            guard resource.id == frontier.resources.count else {
                throw Journal.MissingResource(id: frontier.resources.count)
            }
            let restored = frontier.restore(resource)
            if restored.state != resource.state { note([.changed(restored)]) }
        }
        for record in try journal.loadRecords() {
            guard frontier.resources.indices.contains(record.id) else { throw Journal.MissingResource(id: record.id) }
            if frontier.resources[record.id].state != record.state { continue }
            if frontier.resources[record.id].kind == .sitemapGuess, record.state != .loaded { continue }
            summary.count(record)
        }
        summary.disallowed = frontier.resources.lazy.filter { $0.state == .disallowedByRobots }.count
    }
}

extension LoadRecord {
    fileprivate mutating func take(_ response: LoadedResponse) {
        state = (200..<300).contains(response.status) ? .loaded : .broken
        status = response.status
        mimeType = response.mimeType
        size = response.size
        digest = response.digest
        finalURL = response.finalURL == url ? nil : response.finalURL
        isFromArchive = response.isFromArchive
        error = state == .loaded ? response.refusal : nil
    }
}
