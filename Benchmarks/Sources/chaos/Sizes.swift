import Measuring

/// The memory and the open descriptors of one process over its lifetime.
struct Sizes: Sendable {
    private var memory: [Double] = []
    private var descriptors: [Double] = []

    mutating func add(memory: Double, descriptors: Double) {
        self.memory.append(memory)
        self.descriptors.append(descriptors)
    }

    /// The medians of the two halves of the last half of the lifetime.
    var trend: (memory: (Double, Double), descriptors: (Double, Double)) {
        (Self.halves(memory), Self.halves(descriptors))
    }

    /// Whether neither has risen over the last half by more than 10 % plus 16 MiB or 32 descriptors.
    var isFlat: Bool {
        let (memory, descriptors) = trend
        return memory.1 <= memory.0 * 1.1 + 16 && descriptors.1 <= descriptors.0 * 1.1 + 32
    }

    private static func halves(_ values: [Double]) -> (Double, Double) {
        let last = Array(values.suffix(values.count / 2))
        let middle = last.count / 2
        return (median(Array(last.prefix(middle))) ?? .nan, median(Array(last.suffix(middle))) ?? .nan)
    }
}
