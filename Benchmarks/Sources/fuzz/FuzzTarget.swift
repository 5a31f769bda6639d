import Foundation

/// Code that reads bytes from outside, which libFuzzer tests.
protocol FuzzTarget: Sendable {
    /// The longest input that libFuzzer makes, in bytes.
    var maximumLength: Int { get }

    /// Valid inputs to start from.
    func seeds() throws -> [Data]

    /// Runs the code on one input; it is not a finding when the code refuses the input.
    ///
    /// - Throws: A ``Finding`` when something happens that must never happen.
    func run(_ input: Data) throws

    /// Damages an input in a way that fits its format; returns nil to leave the mutation to libFuzzer.
    func mutated(_ input: [UInt8], using random: inout SeededGenerator) -> [UInt8]?
}

extension FuzzTarget {
    func mutated(_ input: [UInt8], using random: inout SeededGenerator) -> [UInt8]? { nil }
}

/// An event that must never happen, for any input.
struct Finding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Throws when a condition that must hold does not.
    static func unless(_ holds: Bool, _ description: @autoclosure () -> String) throws {
        if !holds { throw Finding(description()) }
    }
}

/// The SplitMix64 generator: the same seed gives the same numbers.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
