import Foundation
import WaystationStorage

/// The `Retry-After` field (RFC 9110, section 10.2.3): seconds, or a date.
enum RetryAfter {
    /// The time to wait; never negative.
    ///
    /// Nil if the field is neither a number nor a date.
    static func delay(_ field: String, now: Date) -> Duration? {
        let text = field.trimmingCharacters(in: .whitespaces)
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(Int(text) ?? Int(Int32.max))
        }
        guard let seconds = Int(exactly: now.timeIntervalSince1970.rounded(.down)),
            let present = HTTPDate(secondsSinceEpoch: seconds), let date = HTTPDate(text, now: present)
        else { return nil }
        return .seconds(max(0, date.secondsSinceEpoch - seconds))
    }
}
