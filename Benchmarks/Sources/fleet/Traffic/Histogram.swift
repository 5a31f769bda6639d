import Foundation

/// Durations by their size: buckets whose bounds grow by a factor of 2^(1/8), so that a percentile is right within 9 %.
struct Histogram: Sendable, Codable {
    /// The number of durations in each bucket that has any.
    private var counts: [Int: Int] = [:]

    private static let perOctave = 8.0

    mutating func add(microseconds: Double) {
        counts[Int((log2(max(microseconds, 1)) * Self.perOctave).rounded(.down)), default: 0] += 1
    }

    mutating func add(_ other: Histogram) { counts.merge(other.counts, uniquingKeysWith: +) }

    var count: Int { counts.values.reduce(0, +) }

    /// The duration in microseconds that a share of all durations does not exceed; nil without durations.
    func percentile(_ share: Double) -> Double? {
        var rest = (share * Double(count)).rounded(.up)
        for (bucket, number) in counts.sorted(by: { $0.key < $1.key }) {
            rest -= Double(number)
            if rest <= 0 { return pow(2, (Double(bucket) + 0.5) / Self.perOctave) }
        }
        return nil
    }
}
