import Testing
import WaystationTesting

@Suite("The tier in memory")
struct InMemoryTierTests {
    @Test("is a tier that machines can share")
    func conformance() async throws { try await SharedTierConformance(of: InMemoryTier()).check() }
}
