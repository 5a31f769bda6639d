import Foundation
@_spi(Processes) import Measuring
import WaystationProcesses
import WaystationTestSupport

/// The memory that each load over the network leaks in plain `URLSession` (Docs/FoundationTraps.md).
///
/// No code above Foundation can free it, so the soak subtracts it before it judges the growth of its own memory.
enum FoundationLeak {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// The number is high enough for the growth to exceed what the allocator keeps or returns by chance.
    private static let loads = 100_000

    /// Measures the leak with plain loads in a process of its own, where nothing else uses memory.
    ///
    /// - Returns: The leak for each load, in MiB.
    static func measure() throws -> Double {
        let process = try SpawnedProcess(ChildProcess.program, ["\(loads)", "forward", "--plain"], output: .lines)
        process.endInput()
        var last: String?
        while let line = process.readLine() { last = line }
        process.wait()
        guard let sizes = last?.split(separator: " ").compactMap({ Double($0) }).suffix(2), sizes.count == 2,
            let early = sizes.first, let late = sizes.last
        else { throw Failure(description: "the plain loads printed no sizes, but: \(last ?? "nothing")") }
        return max(0, late - early) / (0.8 * Double(loads))
    }
}
