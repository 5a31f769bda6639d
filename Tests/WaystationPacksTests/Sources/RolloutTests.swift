import Testing

@testable import WaystationPacks

@Suite struct RolloutTests {
    private func chosen(
        _ percentage: Double,
        salt: String = "s",
        version: String = "2.0",
        module: String = "shop"
    ) throws -> Set<Int> {
        let rollout = Rollout(try Sample.version(version), percentage: percentage, salt: salt)
        let module = try Sample.module(module)
        return Set((0..<20_000).filter { rollout.includes(installID: "client-\($0)", of: module) })
    }

    @Test("The share of chosen clients is the requested percentage", arguments: [1.0, 5, 12.5, 50, 90])
    func share(percentage: Double) throws {
        let share = Double(try chosen(percentage).count) / 20_000 * 100
        // Four standard deviations of a binomial share of 20,000.
        let deviation = (percentage * (100 - percentage) / 20_000).squareRoot()
        #expect(abs(share - percentage) < 4 * deviation, "\(share)")
    }

    @Test("0 per cent chooses no client, 100 chooses all, and two decimals count")
    func ends() throws {
        #expect(try chosen(0).isEmpty)
        #expect(try chosen(100).count == 20_000)
        #expect(try !chosen(0.05).isEmpty)
        #expect(try chosen(0.001).isEmpty)
    }

    @Test("A chosen client stays chosen while the percentage grows")
    func growth() throws {
        #expect(try chosen(10).isSubset(of: chosen(11)))
    }

    @Test("Another salt, version or module chooses other clients")
    func independence() throws {
        let first = try chosen(10)
        for other in [try chosen(10, salt: "t"), try chosen(10, version: "2.1"), try chosen(10, module: "home")] {
            // Independent choices of a tenth share a tenth by chance.
            #expect((100...320).contains(first.intersection(other).count))
        }
    }

    @Test("The choice follows the documented formula")
    func formula() throws {
        // printf 'client-0\nshop\n2.0\ns' | sha256sum: the first sixteen digits modulo 10000 are 2984.
        let rollout = Rollout(try Sample.version("2.0"), percentage: Double(2984) / 100, salt: "s")
        let next = Rollout(try Sample.version("2.0"), percentage: Double(2985) / 100, salt: "s")
        let module = try Sample.module("shop")
        #expect(!rollout.includes(installID: "client-0", of: module))
        #expect(next.includes(installID: "client-0", of: module))
    }
}
