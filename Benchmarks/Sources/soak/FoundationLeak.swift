import Foundation
@_spi(Processes) import Measuring
@_spi(Processes) import WaystationTesting

/// The memory that each load over the network takes for good in plain `URLSession` (Docs/FoundationTraps.md).
///
/// No code above Foundation can give it back, so the soak subtracts it before it judges the growth of its own memory.
enum FoundationLeak {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// Enough for the growth to be well above what the allocator keeps or returns by chance.
    private static let loads = 100_000

    /// Measures it with plain loads in a process of its own, whose memory nothing else changes.
    ///
    /// - Returns: MiB for each load.
    static func measure() throws -> Double {
        let process = try SpawnedProcess(ChildProcess.program, ["\(loads)", "forward", "--plain"], output: .lines)
        process.endInput()
        var last: String?
        while let line = process.readLine() { last = line }
        process.wait()
        guard let sizes = last?.split(separator: " ").compactMap({ Double($0) }).suffix(2), sizes.count == 2,
            let early = sizes.first, let late = sizes.last
        else { throw Failure(description: "the plain loads came to no end, but said: \(last ?? "nothing")") }
        return max(0, late - early) / (0.8 * Double(loads))
    }
}
