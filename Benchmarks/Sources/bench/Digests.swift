import Crypto
import Foundation
import Measuring
import WaystationPacks

extension Benchmark {
    /// The digest of a small body and of a large one, beside the same digest by swift-crypto.
    static let digests = Benchmark("digest-16k/swift-crypto", "digest-64m/swift-crypto") {
        var figures: [Figure] = []
        for (name, count, repeats) in [("16k", 16 << 10, 2_000), ("64m", 64 << 20, 1)] {
            let body = Pattern.body(1, count: count)
            func microseconds(_ digest: () -> Int) -> Double {
                var bytes = 0
                let duration = ContinuousClock().measure { for _ in 0..<repeats { bytes += digest() } }
                // The count is used, so that the compiler cannot remove the loop.
                return duration / .microseconds(1) / Double(repeats) + (bytes < 0 ? 1 : 0)
            }
            let costs = try await interleaved(
                rounds: 15,
                [
                    { microseconds { PackDigest(of: body).hex.utf8.count } },
                    { microseconds { SHA256.hash(data: body).withUnsafeBytes { Int($0[0]) } } },
                ]
            )
            figures.append(
                Figure(
                    "digest-\(name)/swift-crypto",
                    costs[0] / costs[1],
                    limit: 1.05,
                    against: ["waystation-us": costs[0], "swift-crypto-us": costs[1]]
                )
            )
        }
        return figures
    }
}
