import Foundation
import Measuring

/// Zipf's law: the item of rank `k` is chosen with a probability in proportion to `1 / k^exponent`.
struct Zipf: Sendable {
    /// The probability of each rank, the first one the highest.
    let probabilities: [Double]
    private let sums: [Double]

    init(count: Int, exponent: Double) {
        let weights = (1...max(count, 1)).map { 1 / pow(Double($0), exponent) }
        let total = weights.reduce(0, +)
        probabilities = weights.map { $0 / total }
        var sum = 0.0
        sums = probabilities.map { probability in
            sum += probability
            return sum
        }
    }

    /// A rank by chance, counted from 0.
    func sample(using random: inout SeededRandom) -> Int {
        let value = Double.random(in: 0..<1, using: &random)
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
