import Foundation

/// A piece of code that reads bytes from outside, for libFuzzer to feed.
protocol FuzzTarget: Sendable {
    /// The longest input that is made.
    var maximumLength: Int { get }

    /// Sound inputs to begin with.
    func seeds() throws -> [Data]

    /// Uses one input; what the code refuses is no finding.
    ///
    /// - Throws: What must never happen.
    func run(_ input: Data) throws

    /// Damages an input in a way of its own; nil leaves it to libFuzzer.
    func mutated(_ input: [UInt8], using random: inout SeededGenerator) -> [UInt8]?
}

extension FuzzTarget {
    func mutated(_ input: [UInt8], using random: inout SeededGenerator) -> [UInt8]? { nil }
}

/// Something that must never happen, whatever the input.
struct Finding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Throws when what must hold does not.
    static func unless(_ holds: Bool, _ description: @autoclosure () -> String) throws {
        if !holds { throw Finding(description()) }
    }
}

/// SplitMix64: the same numbers for the same seed.
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
