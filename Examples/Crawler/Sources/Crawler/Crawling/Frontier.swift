import SiteTools
import WaystationHTTP

/// Every URL that a crawl knows, and the order in which they are loaded.
///
/// A value without a clock or a network: its methods take the events and return the next step. Hosts take turns; within
/// a host, requisites come before pages and shallow pages before deep ones.
struct Frontier {
    private let scope: Scope
    private let settings: CrawlSettings
    private var ids: [CanonicalURL: Int] = [:]
    private(set) var resources: [Resource] = []
    private var attempts: [Int: Int] = [:]
    private var hosts: [String: HostQueue] = [:]
    private var turns: [String] = []
    private var turn = 0
    /// The number of unfinished resources by depth.
    ///
    /// With a depth limit, a level starts only when those above it are done, since a late answer might otherwise still
    /// reveal a shorter path to a page.
    private var outstanding: [Int: Int] = [:]
    private(set) var queuedCount = 0
    private(set) var inFlightCount = 0

    init(settings: CrawlSettings) {
        self.settings = settings
        scope = Scope(settings)
    }

    // MARK: Finding

    /// The change that `discover` made, for the journal.
    enum Discovery: Equatable {
        case known(Int)
        case added(Int)
        /// The resource was known, but is wanted only now, or has a shorter path now.
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
            resources.append(
                Resource(
                    id: id,
                    url: link.url,
                    kind: link.kind,
                    depth: depth,
                    state: state,
                    linkCharset: link.charset
                )
            )
            if state == .queued { enqueue(id) }
            return .added(id)
        }
        guard resources[id].state.isSkipped else { return .known(id) }
        let state = Self.state(for: scope.verdict(on: link, from: finding))
        guard state == .queued else { return .known(id) }
        resources[id].state = .queued
        resources[id].kind = link.kind
        resources[id].depth = depth
        resources[id].linkCharset = link.charset
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

    /// Adds a resource of an earlier run of the crawl; call it in the order of ids.
    ///
    /// A failed resource is queued again, and one that was left out is judged again, since depth and patterns may have
    /// changed. Returns the resource in its new state.
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

    /// The place at which links of this document were found.
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
        /// The caller loads this origin's robots.txt and reports it with `setRobots`.
        case askRobots(origin: String)
        /// The resource is not loaded: robots.txt disallows it, or could not be loaded.
        case refuse(id: Int, reason: Refusal)
        case wait(until: Duration)
        /// There is nothing to do until a load in flight ends.
        case blocked
        case finished
    }

    enum Refusal: Equatable {
        case disallowed
        case unreachable(String)
    }

    /// The next step; without `allowsPages`, pages are held back and only their requisites continue.
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
            // The host is taken out of the dictionary while it changes, so that it is not copied.
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
        case .known(let rules): rules.allows(resources[id].url) ? nil : .disallowed
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

    /// Puts a resource back, to be returned again at `time` at the earliest.
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
