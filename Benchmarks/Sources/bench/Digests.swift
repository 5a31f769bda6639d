#if SwiftCrypto
import Crypto
import Foundation
import Measuring
import WaystationPacks

extension Benchmark {
    /// The digest of a small body and of a large one in hexadecimal digits, beside the same by swift-crypto.
    static let digests = [
        Benchmark("digest-16k/swift-crypto", "digest-64m/swift-crypto") {
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
                        { microseconds { digits(SHA256.hash(data: body)).utf8.count } },
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
    ]
}

/// A digest in hexadecimal digits.
private func digits(_ digest: SHA256Digest) -> String {
    String(unsafeUninitializedCapacity: 64) { text in
        for (index, byte) in digest.enumerated() {
            for (place, digit) in [byte >> 4, byte & 15].enumerated() {
                text[2 * index + place] = digit + (digit < 10 ? 0x30 : 0x57)
            }
        }
        return 64
    }
}
#else
extension Benchmark {
    /// None: a debug build does without swift-crypto, which takes long to compile.
    static let digests: [Benchmark] = []
}
#endif
