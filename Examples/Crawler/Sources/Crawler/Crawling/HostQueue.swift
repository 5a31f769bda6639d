import SiteTools

/// The resources that wait for one origin, and the time at which the next one may be started.
///
/// `now` is the time since the crawl began; it is always a parameter.
struct HostQueue {
    enum Robots {
        case unknown, asked
        case known(RobotsRules)
        /// robots.txt could not be loaded, so nothing may be loaded (RFC 9309, section 2.3.1.4).
        case unreachable(String)
    }

    let origin: String
    var robots: Robots
    private(set) var inFlight = 0
    /// Requisites and sitemaps: they start before any page, so that pages become complete.
    private var parts = FIFO<Int>()
    /// Pages by depth.
    private var pages: [FIFO<Int>] = []
    private var delayed: [(at: Duration, id: Int, isPage: Bool, depth: Int)] = []
    private var notBefore = Duration.zero

    init(origin: String, robots: Robots) {
        self.origin = origin
        self.robots = robots
    }

    var isIdle: Bool { parts.isEmpty && delayed.isEmpty && pages.allSatisfy(\.isEmpty) }

    mutating func append(_ id: Int, isPage: Bool, depth: Int) {
        guard isPage else { return parts.append(id) }
        while pages.count <= depth { pages.append(FIFO()) }
        pages[depth].append(id)
    }

    mutating func delay(_ id: Int, isPage: Bool, depth: Int, until time: Duration) {
        delayed.append((time, id, isPage, depth))
    }

    /// Prevents loads on this host from starting before `time`.
    mutating func pause(until time: Duration) {
        notBefore = max(notBefore, time)
    }

    enum Next: Equatable {
        case take(Int)
        /// Nothing may start before this time.
        case wait(until: Duration)
        /// Nothing may start until a load ends.
        case blocked
    }

    /// The resource that may be started now.
    ///
    /// - `depthLimit`: Pages deeper than this are held back.
    /// - `isRefused`: A resource that robots.txt disallows is returned at once, since it causes no request to the host.
    mutating func next(
        now: Duration,
        concurrency: Int,
        interval: Duration,
        depthLimit: Int?,
        isRefused: (Int) -> Bool
    ) -> Next {
        releaseDelayed(now: now)
        guard let id = peek(depthLimit: depthLimit) else {
            return delayed.map(\.at).min().map { .wait(until: $0) } ?? .blocked
        }
        if !isRefused(id) {
            guard inFlight < (asksForDelay ? 1 : concurrency) else { return .blocked }
            if now < notBefore { return .wait(until: notBefore) }
            if interval > .zero { notBefore = now + interval }
        }
        pop(depthLimit: depthLimit)
        inFlight += 1
        return .take(id)
    }

    /// Whether the site asks for a delay between requests; such a site gets one request at a time.
    private var asksForDelay: Bool {
        guard case .known(let rules) = robots else { return false }
        return rules.crawlDelay != nil
    }

    mutating func finish() {
        inFlight -= 1
    }

    private func peek(depthLimit: Int?) -> Int? {
        parts.first ?? pageLevel(depthLimit: depthLimit).flatMap { pages[$0].first }
    }

    private mutating func pop(depthLimit: Int?) {
        if parts.popFirst() == nil, let level = pageLevel(depthLimit: depthLimit) { _ = pages[level].popFirst() }
    }

    private func pageLevel(depthLimit: Int?) -> Int? {
        guard let level = pages.firstIndex(where: { !$0.isEmpty }), level <= depthLimit ?? .max else { return nil }
        return level
    }

    private mutating func releaseDelayed(now: Duration) {
        guard !delayed.isEmpty else { return }
        for entry in delayed where entry.at <= now { append(entry.id, isPage: entry.isPage, depth: entry.depth) }
        delayed.removeAll { $0.at <= now }
    }
}
