import Foundation
import WaystationFiles

/// The `Retry-After` field (RFC 9110, section 10.2.3): seconds, or a date.
enum RetryAfter {
    /// How long to wait; never negative.
    ///
    /// Nil when the field is neither.
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
