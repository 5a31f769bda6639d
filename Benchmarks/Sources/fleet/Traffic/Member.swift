import Foundation
import FoundationNetworking
import Measuring
import Synchronization
import Waystation
import WaystationRedis
import WaystationStorage

/// One process of the fleet: it loads pages at random moments, at a given rate, until its time is up.
///
/// It prints `second NUMBER JSON` for each second of its run, `event KIND` for the events of its use of Redis, and
/// `wrong TEXT` for a load that failed or that got a wrong body.
final class Member: Sendable {
    /// How a process takes part in a run; its arguments are these values.
    struct Part: Sendable {
        var directory: String
        var site: String
        var origin: String
        /// The port of Redis.
        var port: Int
        /// The begin of the run, in seconds since 1970.
        var start: Double
        /// How long the process works, in seconds.
        var seconds: Double
        /// The mean number of loads in a second.
        var rate: Double
        /// One in so many loads changes its page; 0 for none.
        var changes: Int
        var seed: UInt64

        var arguments: [String] {
            [
                directory, site, origin, "\(port)", "\(start)", "\(seconds)", "\(rate)", "\(changes)", "\(seed)",
            ]
        }

        init(
            directory: String,
            site: String,
            origin: String,
            port: Int,
            start: Double,
            seconds: Double,
            rate: Double,
            changes: Int,
            seed: UInt64
        ) {
            (self.directory, self.site, self.origin, self.port) = (directory, site, origin, port)
            (self.start, self.seconds, self.rate, self.changes, self.seed) = (start, seconds, rate, changes, seed)
        }

        init?(_ arguments: [String]) {
            guard arguments.count == 9, let port = Int(arguments[3]), let start = Double(arguments[4]),
                let seconds = Double(arguments[5]), let rate = Double(arguments[6]), let changes = Int(arguments[7]),
                let seed = UInt64(arguments[8])
            else { return nil }
            self.init(
                directory: arguments[0],
                site: arguments[1],
                origin: arguments[2],
                port: port,
                start: start,
                seconds: seconds,
                rate: rate,
                changes: changes,
                seed: seed
            )
        }
    }

    private struct State {
        var open = 0
        var intervals: [Int: Interval] = [:]
        /// The version of a page below which this process may not get it any more.
        var versions: [String: Int] = [:]
    }

    /// More loads than these at a time are not begun; a process that cannot follow its rate says so.
    private static let width = 256

    private let part: Part
    private let site: Site
    private let session: URLSession
    private let interceptor: Interceptor
    private let state = Mutex(State())

    init(_ part: Part) throws {
        self.part = part
        site = try Site(URL(fileURLWithPath: part.site))
        interceptor = try .fleet(.fleet(part.directory, port: part.port))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 64
        session = URLSession(configuration: configuration.intercepted(by: interceptor))
    }

    func run() async {
        let events = Task { [interceptor] in
            for await event in interceptor.events {
                if case .shared(let event) = event.kind { say("event \(event.kind)") }
            }
        }
        var random = SeededRandom(seed: part.seed)
        let end = ContinuousClock.now + .seconds(part.seconds)
        var next = ContinuousClock.now
        var reported = second
        await withDiscardingTaskGroup { group in
            while next < end {
                // Independent users: the times between loads are exponential.
                next += .seconds(-log(Double.random(in: Double.ulpOfOne..<1, using: &random)) / part.rate)
                try? await Task.sleep(until: next)
                while reported < second {
                    report(reported)
                    reported += 1
                }
                let page = site.page(using: &random)
                let isChange = part.changes > 0 && Int.random(in: 0..<part.changes, using: &random) == 0
                guard begin() else { continue }
                group.addTask { [self] in
                    if isChange { await change(page) } else { await load(page) }
                    state.withLock { $0.open -= 1 }
                }
            }
        }
        for second in state.withLock({ $0.intervals.keys.sorted() }) { report(second) }
        events.cancel()
    }

    private var second: Int { Int(Date().timeIntervalSince1970 - part.start) }

    private func begin() -> Bool {
        state.withLock { state in
            guard state.open < Self.width else {
                state.intervals[second, default: Interval()].failed += 1
                return false
            }
            state.open += 1
            return true
        }
    }

    private func load(_ page: Site.Page) async {
        guard let url = URL(string: part.origin + page.path) else { return }
        let oldest = state.withLock { $0.versions[page.path] ?? 0 }
        let begin = ContinuousClock.now
        do {
            let (body, response) = try await session.data(from: url)
            let time = begin.duration(to: .now) / .microseconds(1)
            guard let response = response as? HTTPURLResponse else {
                return say("wrong \(page.path): no HTTP response")
            }
            if let fault = Self.fault(of: body, response, page, notBefore: oldest) {
                say("wrong \(page.path): \(fault)")
            }
            let tier = Tier(cacheStatus: InterceptedSession.cacheStatus(response))
            state.withLock {
                $0.intervals[second, default: Interval()].add(tier, bytes: body.count, microseconds: time)
            }
        } catch {
            say("wrong \(page.path): \(error)")
        }
    }

    /// Makes a new version of a page, as the request of a user does that saves something.
    private func change(_ page: Site.Page) async {
        guard let url = URL(string: part.origin + page.path) else { return }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        do {
            let (_, response) = try await session.data(for: request)
            guard let version = (response as? HTTPURLResponse)?.version else {
                return say("wrong \(page.path): a change")
            }
            state.withLock { $0.versions[page.path] = max(version, $0.versions[page.path] ?? 0) }
        } catch {
            say("wrong \(page.path): \(error)")
        }
    }

    /// Describes the fault of a response; nil if the response is right.
    private static func fault(
        of body: Data,
        _ response: HTTPURLResponse,
        _ page: Site.Page,
        notBefore oldest: Int
    ) -> String? {
        let status = "\(response.statusCode) \(InterceptedSession.cacheStatus(response))"
        guard response.statusCode == 200 else { return "status \(status)" }
        guard response.value(forHTTPHeaderField: FleetOrigin.Field.page) == page.path else {
            return "another page \(status)"
        }
        guard response.value(forHTTPHeaderField: FleetOrigin.Field.digest) == FleetOrigin.digest(of: body) else {
            return "\(body.count) bytes with another digest \(status)"
        }
        guard let version = response.version, version >= oldest else {
            return "version \(response.version ?? 0) after this process has made version \(oldest) \(status)"
        }
        return nil
    }

    /// Prints the loads of a second, and forgets them.
    private func report(_ second: Int) {
        guard let interval = state.withLock({ $0.intervals.removeValue(forKey: second) }),
            let text = try? JSONEncoder().encode(interval)
        else { return }
        say("second \(second) \(String(decoding: text, as: UTF8.self))")
    }
}

extension HTTPURLResponse {
    fileprivate var version: Int? { value(forHTTPHeaderField: FleetOrigin.Field.version).flatMap { Int($0) } }
}

extension ResponseCache {
    /// The cache of a machine of the fleet, on the machine's own disk and on Redis.
    ///
    /// - Parameters:
    ///   - directory: The machine's disk.
    ///   - port: The port of Redis; nil for a machine that shares nothing.
    /// - Returns: The cache.
    /// - Throws: The error of making it.
    static func fleet(_ directory: String, port: Int?) throws -> ResponseCache {
        let sharing = try port.map { port in
            ResponseCache.Sharing(
                in: try RedisTier(RedisOptions(host: "127.0.0.1", port: port)),
                secret: Data("a secret of the fleet simulator".utf8)
            )
        }
        return try ResponseCache(
            directory: URL(fileURLWithPath: directory),
            maximumSize: .mebibytes(64),
            memorySize: .mebibytes(8),
            sharing: sharing
        )
    }
}

extension Interceptor {
    /// A machine of the fleet.
    static func fleet(_ cache: ResponseCache) throws -> Interceptor {
        try Interceptor {
            $0.transport = .chosen
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
            $0.cache = cache
        }
    }
}
