import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

/// Machines with a disk each that share a tier, and the origin of all of them.
final class FleetFixture: Sendable {
    /// One machine of the fleet: a cache, and a session that loads through it.
    final class Machine: Sendable {
        let cache: ResponseCache
        let interceptor: Interceptor
        let session: URLSession
        let events: AsyncStream<LoadEvent>
        let folder: TemporaryDirectory

        init(
            _ sharing: ResponseCache.Sharing?,
            _ strategy: CacheStrategy,
            _ key: CacheKey,
            _ clock: ManualClock,
            in folder: TemporaryDirectory
        )
            throws
        {
            let cache = try ResponseCache(
                directory: folder.url,
                environment: .patient,
                sharing: sharing,
                now: clock.now
            )
            self.folder = folder
            self.cache = cache
            interceptor = try Interceptor {
                $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(strategy, key: key))]
                $0.cache = cache
                $0.now = clock.now
            }
            events = interceptor.events
            session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        }
    }

    /// Ends the subscriptions of a machine, as its end does.
    func stop(_ machine: Machine) async {
        let count = tier.subscriberCount
        for follower in machine.cache.shared?.followers.withLock({ $0 }) ?? [] { follower.cancel() }
        #expect(await eventually { tier.subscriberCount == count - 2 })
    }

    /// The answer to a load.
    struct Got: Equatable {
        var body: String
        var status: String
        var age: String?

        /// Whether the tier has answered.
        var isShared: Bool { status.contains("hit") && status.contains("detail=shared") }
        /// Whether this machine's own cache has answered.
        var isLocal: Bool { status.contains("hit") && !status.contains("detail=shared") }
    }

    static let secret = Data("a secret for the tests of a fleet".utf8)

    let origin: ScriptedOrigin
    let clock = ManualClock()
    let tier: InMemoryTier
    private let strategy: CacheStrategy
    private let key: CacheKey
    /// The machines, which live as long as the fleet: one that ended by itself would end its subscriptions.
    private let machines = Mutex<[Machine]>([])

    init(
        _ strategy: CacheStrategy = .standard,
        key: CacheKey = .url,
        tier: InMemoryTier = InMemoryTier(),
        _ script: @escaping ScriptedOrigin.Script
    ) throws {
        self.strategy = strategy
        self.key = key
        self.tier = tier
        origin = try ScriptedOrigin(script: script)
    }

    /// How a machine shares: calls may take as long as a busy test machine needs.
    func sharing(in tier: (any SharedTier)? = nil, secret: Data = secret) -> ResponseCache.Sharing {
        var sharing = ResponseCache.Sharing(in: tier ?? self.tier, secret: secret)
        sharing.timeout = .seconds(300)
        sharing.patience = .seconds(300)
        return sharing
    }

    /// Starts a machine, and waits until it follows the others, unless it cannot.
    func machine(
        in folder: TemporaryDirectory? = nil,
        isFollowing: Bool = true,
        _ change: (inout ResponseCache.Sharing) -> Void = { _ in }
    ) async throws -> Machine {
        var sharing = sharing()
        change(&sharing)
        let machine = try Machine(sharing, strategy, key, clock, in: try folder ?? TemporaryDirectory())
        machines.withLock { $0.append(machine) }
        guard isFollowing, case .working = tier.behavior else { return machine }
        #expect(await eventually { machine.cache.shared?.arrivals.isFollowed ?? false })
        // The first number has been noted, and what was stored before it was removed.
        #expect(await eventually { SequenceFile(in: machine.folder.url).read() != nil })
        return machine
    }

    /// Loads a target on a machine, and waits until its cache has written everything.
    @discardableResult
    func load(
        _ target: String = "/",
        on machine: Machine,
        method: String = "GET",
        _ fields: [String: String] = [:]
    ) async throws -> Got {
        var request = URLRequest(url: origin.url(target))
        request.httpMethod = method
        request.timeoutInterval = 600
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await machine.session.data(for: request)
        // Not that of the cache: it would wait for a tier that does not answer.
        await machine.cache.store.flush()
        let head = try #require(response as? HTTPURLResponse)
        return Got(
            body: String(decoding: data, as: UTF8.self),
            status: head.value(forHTTPHeaderField: "Cache-Status") ?? "",
            age: head.value(forHTTPHeaderField: "Age")
        )
    }

    /// Waits until the tier has a number of entries; roots and leases have 16 bytes.
    func entries(_ count: Int) async -> Bool {
        await eventually { tier.values.count { $0.value.count > 16 } == count }
    }

    /// The number of requests that reached the origin.
    var trips: Int { origin.requestCount }

    /// Waits for an event of the tier's use on a machine.
    func event(_ kind: TierEvent.Kind, on machine: Machine) async -> TierEvent? {
        for await event in machine.events {
            if case .shared(let event) = event.kind, event.kind == kind { return event }
        }
        return nil
    }
}
