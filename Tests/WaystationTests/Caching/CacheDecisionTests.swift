import Foundation
import FoundationNetworking
import HTTPTypes
import Testing
import WaystationHTTP

@testable import Waystation

/// The kind of a ``CacheDecision``, without the stored responses in it.
private enum Told: Equatable {
    case serve(renewing: Bool)
    case fetch(CacheStatus.ForwardReason, asks: Bool, fallback: Bool, timeout: Duration?)
    case unavailable, bypass, gatewayTimeout

    init(_ decision: CacheDecision) {
        switch decision {
        case .serve(_, let renewing): self = .serve(renewing: renewing != nil)
        case .fetch(let fetch):
            self = .fetch(
                fetch.reason,
                asks: fetch.revalidation?.isConditional ?? false,
                fallback: fetch.fallback != nil || fetch.mayStandIn,
                timeout: fetch.timeout
            )
        case .unavailable: self = .unavailable
        case .bypass: self = .bypass
        case .gatewayTimeout: self = .gatewayTimeout
        }
    }
}

@Suite("A cache decision")
struct CacheDecisionTests {
    typealias Policy = URLRequest.CachePolicy

    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// The ages of the stored response, in seconds: nothing stored, new, a second below the limit of 60 s, at the
    /// limit, far above it.
    private static let ages: [TimeInterval?] = [nil, 0, 59, 60, 100_000]
    private static let strategies: [CacheStrategy] = [
        .cacheFirst(for: .seconds(60)), .networkFirst(), .networkFirst(timeout: .seconds(3)),
        .staleWhileRevalidate(upTo: .seconds(60)), .cacheOnly, .networkOnly, .standard, .revalidate,
    ]
    private static let miss = Told.fetch(.uriMiss, asks: false, fallback: false, timeout: nil)
    private static let stale = Told.fetch(.stale, asks: true, fallback: false, timeout: nil)
    private static let staleOrOffline = Told.fetch(.stale, asks: true, fallback: true, timeout: nil)
    private static let fallback = Told.fetch(.request, asks: true, fallback: true, timeout: nil)
    private static let patient = Told.fetch(.request, asks: true, fallback: true, timeout: .seconds(3))
    private static let serve = Told.serve(renewing: false)
    private static let renew = Told.serve(renewing: true)

    /// One row for each strategy, in the order above; one column for each age.
    private static let table: [[Told]] = [
        [miss, serve, serve, stale, stale],
        [miss, fallback, fallback, fallback, fallback],
        [miss, patient, patient, patient, patient],
        [miss, renew, renew, stale, stale],
        [.unavailable, serve, serve, serve, serve],
        [.bypass, .bypass, .bypass, .bypass, .bypass],
        [miss, serve, serve, staleOrOffline, staleOrOffline],
        [miss, fallback, fallback, fallback, fallback],
    ]

    private func decision(
        _ strategy: CacheStrategy,
        policy: Policy = .useProtocolCachePolicy,
        age: TimeInterval?,
        fields: [String: String] = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
    ) throws -> Told {
        let request = try #require(
            CacheRequest(URLRequest("GET", "https://a.example/x"), canonical: "https://a.example/x")
        )
        let stored = age.map { age in
            StoredHead(
                key: request.key,
                status: 200,
                headerFields: HTTPFields(fields),
                requestTime: Self.now - age,
                responseTime: Self.now - age
            )
        }
        return Told(
            CacheDecision.make(
                strategy,
                policy: policy,
                for: request,
                among: [stored].compactMap(\.self),
                now: Self.now
            )
        )
    }

    @Test("follows the strategy when the request has no policy of its own", arguments: strategies.indices)
    func strategy(row: Int) throws {
        for (age, expected) in zip(Self.ages, Self.table[row]) {
            let decision = try decision(Self.strategies[row], age: age)
            #expect(decision == expected, "\(Self.strategies[row]) at the age of \(age.map { "\($0)" } ?? "none")")
        }
    }

    @Test(
        "with a policy to reload goes to the network and uses nothing stored",
        arguments: [Policy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData],
        strategies
    )
    func reload(policy: Policy, strategy: CacheStrategy) throws {
        let expected: Told =
            strategy == .networkOnly ? .bypass : .fetch(.request, asks: false, fallback: false, timeout: nil)
        for age in Self.ages { #expect(try decision(strategy, policy: policy, age: age) == expected) }
    }

    @Test(
        "with a policy to revalidate validates the stored response, however fresh, and has no fallback",
        arguments: strategies
    )
    func reloadRevalidating(strategy: CacheStrategy) throws {
        for age in Self.ages {
            let expected: Told =
                strategy == .networkOnly ? .bypass : .fetch(.request, asks: age != nil, fallback: false, timeout: nil)
            #expect(try decision(strategy, policy: .reloadRevalidatingCacheData, age: age) == expected)
        }
    }

    @Test("with a policy for stored data serves it at any age", arguments: strategies)
    func storedData(strategy: CacheStrategy) throws {
        for age in Self.ages.compactMap(\.self) {
            for policy in [Policy.returnCacheDataElseLoad, .returnCacheDataDontLoad] {
                #expect(try decision(strategy, policy: policy, age: age) == Self.serve)
            }
        }
        #expect(try decision(strategy, policy: .returnCacheDataElseLoad, age: nil) == Self.miss)
        #expect(try decision(strategy, policy: .returnCacheDataDontLoad, age: nil) == .unavailable)
    }

    @Test("takes days, hours and minutes beyond the longest time for that time")
    func longestTimes() {
        for time in [Duration.days, Duration.hours, Duration.minutes] {
            #expect(time(.max) == .seconds(Int64.max))
            #expect(time(.min) == .seconds(Int64.min))
        }
        #expect([Duration.days(-2), .hours(3), .minutes(4)] == [.seconds(-172_800), .seconds(10_800), .seconds(240)])
    }

    @Test("takes a limit or a time-out below zero as zero, and an immense one as 100,000 days")
    func limits() throws {
        let made: [(Duration) -> CacheStrategy] = [
            { .cacheFirst(for: $0) }, { .networkFirst(timeout: $0) }, { .staleWhileRevalidate(upTo: $0) },
        ]
        for make in made {
            for time in [Duration.seconds(-1), .seconds(Int64.min), .seconds(-1e20)] {
                #expect(make(time) == make(.zero))
                for age in Self.ages { #expect(try decision(make(time), age: age) == decision(make(.zero), age: age)) }
            }
            for time in [Duration.seconds(Int64.max), .seconds(1e20)] {
                #expect(make(time) == make(.days(100_000)))
                for age in Self.ages + [-5, 1e9] { _ = try decision(make(time), age: age) }
            }
        }
        #expect(try decision(.cacheFirst(for: .zero), age: 0) == Self.stale)
    }

    @Test("takes a negative age, from a clock that was set back, as zero up to a minute, and as too old beyond that")
    func negativeAge() throws {
        #expect(try decision(.cacheFirst(for: .seconds(60)), age: -5) == Self.serve)
        #expect(try decision(.staleWhileRevalidate(upTo: .seconds(60)), age: -5) == Self.renew)
        for age in [0.0, -5] {
            #expect(try decision(.cacheFirst(for: .zero), age: age) == Self.stale)
            #expect(try decision(.staleWhileRevalidate(upTo: .zero), age: age) == Self.stale)
        }
        for (age, expected) in [(-60.0, Self.serve), (-61, Self.stale), (-86_400, Self.stale)] {
            #expect(try decision(.cacheFirst(for: .days(7)), age: age) == expected)
        }
        #expect(try decision(.staleWhileRevalidate(upTo: .days(7)), age: -86_400) == Self.stale)
    }

    @Test("of an archive depends on the time of arrival, whatever the fields say")
    func archive() throws {
        let fields = ["Cache-Control": "max-age=0, must-revalidate", "Age": "1000000", "Expires": "0"]
        #expect(try decision(.cacheFirst(for: .seconds(60)), age: 59, fields: fields) == Self.serve)
        #expect(try decision(.networkFirst(), age: 59, fields: fields).hasFallback)
    }
}

extension Told {
    fileprivate var hasFallback: Bool { if case .fetch(_, _, true, _) = self { true } else { false } }
}
