/// Every URL that a crawl knows, and which of them is loaded next.
///
/// A value without clock or network: what happens goes in, what to do comes out. Hosts take turns; within a host,
/// requisites come before pages and shallow pages before deep ones.
struct Frontier {
    private let scope: Scope
    private let settings: CrawlSettings
    private var ids: [CanonicalURL: Int] = [:]
    private(set) var resources: [Resource] = []
    private var attempts: [Int: Int] = [:]
    private var hosts: [String: HostQueue] = [:]
    private var turns: [String] = []
    private var turn = 0
    /// Unfinished resources by depth: with a depth limit a level starts only when those above are done, since a late
    /// answer might otherwise still show a shorter way to a page.
    private var outstanding: [Int: Int] = [:]
    private(set) var queuedCount = 0
    private(set) var inFlightCount = 0

    init(settings: CrawlSettings) {
        self.settings = settings
        scope = Scope(settings)
    }

    // MARK: Finding

    /// What `discover` changed, for the journal.
    enum Discovery: Equatable {
        case known(Int)
        case added(Int)
        /// Known, but only now wanted, or now known by a shorter way.
        case changed(Int)

        var id: Int {
            switch self {
            case .known(let id), .added(let id), .changed(let id): id
            }
        }
    }

    mutating func discover(_ link: FoundLink, from finding: Scope.Finding) -> Discovery {
        let depth = scope.depth(of: link.kind, from: finding)
        guard let id = ids[link.url] else {
            let state = Self.state(for: scope.verdict(on: link, from: finding))
            let id = resources.count
            ids[link.url] = id
            resources.append(Resource(id: id, url: link.url, kind: link.kind, depth: depth, state: state))
            if state == .queued { enqueue(id) }
            return .added(id)
        }
        guard resources[id].state.isSkipped else { return .known(id) }
        let state = Self.state(for: scope.verdict(on: link, from: finding))
        guard state == .queued else { return .known(id) }
        resources[id].state = .queued
        resources[id].kind = link.kind
        resources[id].depth = depth
        enqueue(id)
        return .changed(id)
    }

    private static func state(for verdict: Scope.Verdict) -> Resource.State {
        switch verdict {
        case .load: .queued
        case .outside: .outside
        case .tooDeep: .tooDeep
        case .excluded: .excluded
        }
    }

    /// Takes up what an earlier run of the crawl left, in the order of ids.
    ///
    /// What failed is tried again, and what was left out is judged again, since depth and patterns may have changed.
    /// Returns the resource as it now stands.
    mutating func restore(_ resource: Resource) -> Resource {
        var resource = resource
        if resource.state == .failed { resource.state = .queued }
        if resource.state == .tooDeep || resource.state == .excluded {
            let costsDepth = scope.depth(of: resource.kind, from: Scope.Finding(depth: 0, isInside: true))
            let finding = Scope.Finding(depth: resource.depth - costsDepth, isInside: true)
            resource.state = Self.state(
                for: scope.verdict(on: FoundLink(url: resource.url, kind: resource.kind), from: finding)
            )
        }
        ids[resource.url] = resource.id
        resources.append(resource)
        if resource.state == .queued { enqueue(resource.id) }
        return resource
    }

    /// Where links of this document count as found.
    func finding(for id: Int, finalURL: CanonicalURL?, isStylesheet: Bool) -> Scope.Finding {
        let resource = resources[id]
        let isInside =
            scope.contains(finalURL ?? resource.url) || resource.kind.isSitemap
            || (resource.kind == .start && finalURL == nil)
        return Scope.Finding(depth: resource.depth, isInside: isInside, isStylesheet: isStylesheet)
    }

    private mutating func enqueue(_ id: Int) {
        let resource = resources[id]
        let origin = resource.url.origin
        if hosts[origin] == nil {
            hosts[origin] = HostQueue(origin: origin, robots: settings.obeysRobots ? .unknown : .known(.allowAll))
            turns.append(origin)
        }
        hosts[origin]?.append(id, isPage: Self.countsAsPage(resource.kind), depth: resource.depth)
        outstanding[resource.depth, default: 0] += 1
        queuedCount += 1
    }

    private static func countsAsPage(_ kind: LinkKind) -> Bool { !kind.isRequisite && !kind.isSitemap }

    // MARK: Taking

    enum Next: Equatable {
        case load(id: Int, attempt: Int)
        /// Ask for this origin's robots.txt and report with `setRobots`.
        case askRobots(origin: String)
        /// Known without a load: disallowed, or robots.txt was not to be had.
        case refuse(id: Int, reason: Refusal)
        case wait(until: Duration)
        /// Nothing until something in flight ends.
        case blocked
        case finished
    }

    enum Refusal: Equatable {
        case disallowed
        case unreachable(String)
    }

    /// What to do now; without `allowsPages`, pages are held back and only their requisites go on.
    mutating func next(now: Duration, allowsPages: Bool = true) -> Next {
        var wake: Duration?
        let depthLimit = allowsPages ? openDepth : -1
        for _ in turns.indices {
            turn = (turn + 1) % turns.count
            let origin = turns[turn]
            guard var host = hosts[origin], !host.isIdle else { continue }
            switch host.robots {
            case .unknown:
                host.robots = .asked
                hosts[origin] = host
                inFlightCount += 1
                return .askRobots(origin: origin)
            case .asked:
                continue
            case .known, .unreachable:
                break
            }
            let robots = host.robots
            // Out of the dictionary while it changes, so that it is not copied.
            hosts[origin] = nil
            let next = host.next(
                now: now,
                concurrency: settings.concurrency,
                interval: interval(of: host),
                depthLimit: depthLimit,
                isRefused: { refusal(of: $0, by: robots) != nil }
            )
            hosts[origin] = host
            switch next {
            case .take(let id):
                queuedCount -= 1
                inFlightCount += 1
                if let reason = refusal(of: id, by: robots) { return .refuse(id: id, reason: reason) }
                attempts[id, default: 0] += 1
                return .load(id: id, attempt: attempts[id] ?? 1)
            case .wait(let time):
                wake = min(wake ?? time, time)
            case .blocked:
                break
            }
        }
        if let wake { return .wait(until: wake) }
        return queuedCount == 0 && inFlightCount == 0 ? .finished : .blocked
    }

    private func refusal(of id: Int, by robots: HostQueue.Robots) -> Refusal? {
        switch robots {
        case .known(let rules): rules.rules.isEmpty || rules.allows(resources[id].url) ? nil : .disallowed
        case .unreachable(let reason): .unreachable(reason)
        case .unknown, .asked: nil
        }
    }

    private var openDepth: Int? {
        settings.depth == nil ? nil : outstanding.lazy.filter { $0.value > 0 }.map(\.key).min()
    }

    private func interval(of host: HostQueue) -> Duration {
        let rate = settings.requestsPerSecond.map { Duration.seconds(1 / $0) } ?? .zero
        guard case .known(let rules) = host.robots, let asked = rules.crawlDelay else { return rate }
        return max(rate, asked)
    }

    // MARK: Reporting back

    mutating func setRobots(_ robots: HostQueue.Robots, for origin: String) {
        if hosts[origin] == nil {
            hosts[origin] = HostQueue(origin: origin, robots: robots)
            turns.append(origin)
        } else {
            if case .asked = hosts[origin]?.robots { inFlightCount -= 1 }
            hosts[origin]?.robots = robots
        }
    }

    mutating func finish(_ id: Int, as state: Resource.State) {
        resources[id].state = state
        attempts[id] = nil
        inFlightCount -= 1
        outstanding[resources[id].depth, default: 1] -= 1
        hosts[resources[id].url.origin]?.finish()
    }

    /// Puts a resource back, to be taken again at `time` at the earliest.
    mutating func retry(_ id: Int, at time: Duration, pausesHost: Bool) {
        let resource = resources[id]
        inFlightCount -= 1
        queuedCount += 1
        hosts[resource.url.origin]?.finish()
        hosts[resource.url.origin]?.delay(
            id,
            isPage: Self.countsAsPage(resource.kind),
            depth: resource.depth,
            until: time
        )
        if pausesHost { hosts[resource.url.origin]?.pause(until: time) }
    }
}
