import Foundation
import FoundationNetworking
import Testing

@testable import Waystation

@Suite("What a strategy says, given what is stored")
struct ArchiveDecisionTests {
    typealias Policy = URLRequest.CachePolicy

    /// No response is stored; one that arrived just now, a second before the limit of 60 s, at it, long after it.
    private static let ages: [TimeInterval?] = [nil, 0, 59, 60, 100_000]
    private static let strategies: [CacheStrategy] = [
        .cacheFirst(for: .seconds(60)), .networkFirst(), .networkFirst(timeout: .seconds(3)),
        .staleWhileRevalidate(upTo: .seconds(60)), .cacheOnly, .networkOnly,
    ]
    private static let miss = ArchiveDecision.forward(.uriMiss, usesFallback: false, timeout: nil)
    private static let stale = ArchiveDecision.forward(.stale, usesFallback: false, timeout: nil)
    private static let fallback = ArchiveDecision.forward(.request, usesFallback: true, timeout: nil)
    private static let patient = ArchiveDecision.forward(.request, usesFallback: true, timeout: .seconds(3))
    private static let serve = ArchiveDecision.serve(renewing: false)
    private static let renew = ArchiveDecision.serve(renewing: true)

    /// One row a strategy, in the order above; one column an age.
    private static let table: [[ArchiveDecision]] = [
        [miss, serve, serve, stale, stale],
        [miss, fallback, fallback, fallback, fallback],
        [miss, patient, patient, patient, patient],
        [miss, renew, renew, stale, stale],
        [.unavailable, serve, serve, serve, serve],
        [.bypass, .bypass, .bypass, .bypass, .bypass],
    ]

    @Test("the strategy decides when the request has no policy of its own", arguments: strategies.indices)
    func strategy(row: Int) {
        for (age, expected) in zip(Self.ages, Self.table[row]) {
            let decision = ArchiveDecision.make(Self.strategies[row], age: age)
            #expect(decision == expected, "\(Self.strategies[row]) at the age of \(age.map { "\($0)" } ?? "none")")
        }
    }

    @Test(
        "a policy to reload asks the network, whatever is stored, and uses nothing stored",
        arguments: [
            Policy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData,
        ],
        strategies
    )
    func reload(policy: Policy, strategy: CacheStrategy) {
        let expected: ArchiveDecision =
            strategy == .networkOnly ? .bypass : .forward(.request, usesFallback: false, timeout: nil)
        for age in Self.ages { #expect(ArchiveDecision.make(strategy, policy: policy, age: age) == expected) }
    }

    @Test("a policy for stored data serves it at any age", arguments: strategies)
    func storedData(strategy: CacheStrategy) {
        for age in Self.ages.compactMap(\.self) {
            for policy in [Policy.returnCacheDataElseLoad, .returnCacheDataDontLoad] {
                #expect(ArchiveDecision.make(strategy, policy: policy, age: age) == Self.serve)
            }
        }
        #expect(ArchiveDecision.make(strategy, policy: .returnCacheDataElseLoad, age: nil) == Self.miss)
        #expect(ArchiveDecision.make(strategy, policy: .returnCacheDataDontLoad, age: nil) == .unavailable)
    }

    @Test("a clock set back makes a response new, not younger than new")
    func negativeAge() {
        #expect(ArchiveDecision.make(.cacheFirst(for: .seconds(60)), age: -5) == Self.serve)
        #expect(ArchiveDecision.make(.staleWhileRevalidate(upTo: .seconds(60)), age: -5) == Self.renew)
        for age in [0.0, -5] {
            #expect(ArchiveDecision.make(.cacheFirst(for: .zero), age: age) == Self.stale)
            #expect(ArchiveDecision.make(.staleWhileRevalidate(upTo: .zero), age: age) == Self.stale)
        }
    }
}
