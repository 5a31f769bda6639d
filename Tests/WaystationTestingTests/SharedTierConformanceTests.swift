import Synchronization
import Testing
import WaystationTesting

@Suite("The tier in memory")
struct InMemoryTierTests {
    @Test("is a tier that machines can share")
    func conformance() async throws { try await SharedTierConformance(of: InMemoryTier()).check() }
}

@Suite("The checks of a shared tier")
struct SharedTierConformanceTests {
    @Test("find each promise that a tier breaks", arguments: FlawedTier.Flaw.allCases)
    func flaws(flaw: FlawedTier.Flaw) async throws {
        // Checks that wait for what a flawed tier never does take the whole time, so it is short at first. On a busy
        // machine a call may take longer, which ends the checks before they reach the flaw.
        for patience in [1, 8, 64] where try await finds(flaw, patience: .seconds(patience)) { return }
        Issue.record("a tier with the flaw \(flaw) passes")
    }

    /// Whether the checks report a flaw of a tier.
    private func finds(_ flaw: FlawedTier.Flaw, patience: Duration) async throws -> Bool {
        let isFound = Mutex(false)
        try await withKnownIssue(isIntermittent: true) {
            try await SharedTierConformance(of: FlawedTier(flaw), patience: patience).check()
        } matching: { issue in
            // A flaw may break other promises as well.
            if issue.comments.contains(where: { $0.rawValue == flaw.rawValue }) { isFound.withLock { $0 = true } }
            return true
        }
        return isFound.withLock { $0 }
    }

    @Test("find out whether a tier that cannot answer fails at the deadlines of its calls")
    func deadlines() async throws {
        let tier = InMemoryTier()
        let issues = Mutex<[String]>([])
        // Only the calls of the silent tier never end.
        let behaviors: [(InMemoryTier.Behavior, patience: Duration)] = [
            (.silent, .milliseconds(20)), (.working, .seconds(600)),
        ]
        for (behavior, patience) in behaviors {
            tier.behavior = behavior
            await withKnownIssue {
                await SharedTierConformance(of: tier, patience: patience).checkDeadlines()
            } matching: { issue in
                issues.withLock { $0 += issue.comments.map(\.rawValue) }
                return true
            }
        }
        let late = issues.withLock(\.self).filter { $0.hasSuffix("does not end at its deadline") }
        let early = issues.withLock(\.self).filter { $0.contains("worked") }
        #expect(late.count == 7 && early.count == 7)
        tier.behavior = .down
        await SharedTierConformance(of: tier).checkDeadlines()
    }
}
