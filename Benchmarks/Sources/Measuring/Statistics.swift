/// The middle value, or the mean of the two middle ones; nil for no values.
public func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

/// Runs several ways in turn (A, B, A, B, …), so that anything that slows the machine slows all of them alike.
///
/// The first turn is a warm-up and does not count.
///
/// - Parameters:
///   - rounds: How many counted runs each way has.
///   - ways: The ways to run; each returns its cost, in any unit.
/// - Returns: The median cost of each way, in the order given.
/// - Throws: The error of a way.
public func interleaved(rounds: Int, _ ways: [() async throws -> Double]) async throws -> [Double] {
    var costs = [[Double]](repeating: [], count: ways.count)
    for round in 0...max(rounds, 1) {
        for (index, way) in ways.enumerated() {
            let cost = try await way()
            if round > 0 { costs[index].append(cost) }
        }
    }
    return costs.compactMap(median)
}
