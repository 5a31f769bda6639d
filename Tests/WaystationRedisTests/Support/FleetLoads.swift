#if Redis
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@testable import WaystationRedis

/// Machines that load and invalidate the same responses while the servers of their tier fail.
///
/// Each body says which response it is and in which version. A load is wrong if its body is not exactly one of its URL,
/// or older than what its machine has already invalidated.
final class FleetLoads: Sendable {
    /// A machine: a cache of its own, and a session.
    private struct Machine {
        let session: URLSession
        let cache: ResponseCache
        let tier: RedisTier
    }

    /// The number of loads, from the environment.
    static let count = ProcessInfo.processInfo.environment["WAYSTATION_FLEET_LOADS"].flatMap(Int.init) ?? 2_000

    /// The secret of the fleet, which decides the names and so the slots of all values.
    static let secret = Data(repeating: 7, count: 32)

    private let origin: ScriptedOrigin
    private let versions: Versions
    private let machines: [Machine]
    private let urls: Int
    private let folder = FileManager.default.temporaryDirectory.appending(path: "fleet-\(UUID().uuidString)")
    private let finished = Mutex(0)

    /// Makes the machines, which share a tier on these servers.
    init(_ options: RedisOptions) throws {
        let versions = Versions()
        self.versions = versions
        urls = max(200, Self.count / 10)
        origin = try ScriptedOrigin(keepsRequests: false) { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return .ok(Self.body(number, versions[number]), fields: ["Cache-Control": "max-age=600"])
        }
        let folder = folder
        machines = try (0..<4).map { number in
            let tier = try RedisTier(options)
            let cache = try ResponseCache(
                directory: folder.appending(path: "\(number)"),
                sharing: ResponseCache.Sharing(in: tier, secret: Self.secret)
            )
            let interceptor = try Interceptor {
                $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
                $0.cache = cache
            }
            let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
            return Machine(session: session, cache: cache, tier: tier)
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The number of loads that have ended.
    var progress: Int { finished.withLock(\.self) }

    /// How often the servers have redirected the machines or changed, for all machines together.
    var counts: RedisCounts {
        machines.reduce(into: RedisCounts()) {
            $0.moved += $1.tier.counts.moved
            $0.asked += $1.tier.counts.asked
            $0.topologies += $1.tier.counts.topologies
            $0.failovers += $1.tier.counts.failovers
        }
    }

    /// Loads until the servers have gone through these events, and as often as the environment says.
    ///
    /// The seed decides which machine loads which URL, and when one is changed.
    func run(seed: UInt64, during events: @escaping @Sendable () async throws -> Void) async throws {
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { isOver.raise() }
                try await events()
            }
            group.addTask { [self] in
                var generator = SeededGenerator(seed: seed)
                try await withThrowingTaskGroup(of: Void.self) { loads in
                    var number = 0
                    while number < Self.count || !isOver.isUp {
                        number += 1
                        if number > 16 { try await loads.next() }
                        let machine = Int.random(in: machines.indices, using: &generator)
                        let url = Int.random(in: 0..<urls, using: &generator)
                        let isChange = Int.random(in: 0..<40, using: &generator) == 0
                        loads.addTask { [self] in
                            try await isChange ? change(url, on: machine) : load(url, on: machine)
                            finished.withLock { $0 += 1 }
                        }
                    }
                    try await loads.waitForAll()
                }
            }
            try await group.waitForAll()
        }
    }

    /// Waits until all machines have the present versions, and one gets from the tier what another one has loaded.
    func expectAgreement() async throws {
        for machine in machines.indices {
            for url in versions.changed {
                let expected = Self.body(url, versions[url])
                #expect(try await eventually { try await self.body(url, on: machine) == expected })
            }
        }
        let next = Mutex(urls)
        let isShared = try await eventually {
            let url = next.withLock { number in
                number += 1
                return number
            }
            _ = try await body(url, on: 0)
            let (_, response) = try await machines[1].session.data(for: request(url))
            let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status") ?? ""
            return status.contains("detail=shared")
        }
        #expect(isShared)
    }

    private func load(_ url: Int, on machine: Int) async throws {
        let oldest = versions.invalidated(url, on: machine)
        let body = try await body(url, on: machine)
        let newest = versions[url]
        #expect((oldest...newest).contains { body == Self.body(url, $0) }, "\(url): \(body.prefix(40)) after \(oldest)")
    }

    /// Changes a response at the origin, and invalidates it from one machine.
    private func change(_ url: Int, on machine: Int) async throws {
        let version = versions.change(url)
        try await machines[machine].cache.remove(origin.url("/\(url)"))
        versions.invalidate(url, before: version, on: machine)
    }

    private func body(_ url: Int, on machine: Int) async throws -> String {
        let (data, _) = try await machines[machine].session.data(for: request(url))
        return String(decoding: data, as: UTF8.self)
    }

    private func request(_ url: Int) -> URLRequest { URLRequest(url: origin.url("/\(url)"), timeoutInterval: 600) }

    /// The body of a response: its URL and version many times, so that a part of it is another body.
    private static func body(_ url: Int, _ version: Int) -> String {
        String(repeating: "\(url) in version \(version), ", count: 1 + url % 200)
    }

    /// A flag that is raised once.
    private final class Flag: Sendable {
        private let state = Mutex(false)

        var isUp: Bool { state.withLock(\.self) }

        func raise() { state.withLock { $0 = true } }
    }

    /// The versions of all responses, and those that machines have invalidated.
    private final class Versions: Sendable {
        private struct Place: Hashable {
            let url: Int
            let machine: Int
        }

        private let state = Mutex((present: [Int: Int](), invalidated: [Place: Int]()))

        subscript(url: Int) -> Int { state.withLock { $0.present[url] ?? 0 } }

        var changed: [Int] { state.withLock { Array($0.present.keys) } }

        func change(_ url: Int) -> Int {
            state.withLock {
                $0.present[url, default: 0] += 1
                return $0.present[url] ?? 0
            }
        }

        func invalidated(_ url: Int, on machine: Int) -> Int {
            state.withLock { $0.invalidated[Place(url: url, machine: machine)] ?? 0 }
        }

        func invalidate(_ url: Int, before version: Int, on machine: Int) {
            state.withLock {
                let place = Place(url: url, machine: machine)
                $0.invalidated[place] = max($0.invalidated[place] ?? 0, version)
            }
        }
    }
}
#endif
