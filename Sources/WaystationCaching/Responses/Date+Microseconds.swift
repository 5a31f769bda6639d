package import Foundation

extension Date {
    /// Whole microseconds since 1970, the unit of a stored response's times.
    package var microseconds: Int64 {
        let value = (timeIntervalSince1970 * 1_000_000).rounded()
        // The comparison is false for NaN too, and prevents a trap for dates that are very far away.
        return abs(value) < 9e18 ? Int64(value) : (value > 0 ? .max : .min)
    }

    package init(microseconds: Int64) {
        self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
    }
}
