import Foundation
import HTTPTypes
import WaystationFields

/// The `Retry-After` field (RFC 9110 §10.2.3): a number of seconds, or a date.
enum RetryAfter {
    /// The longest delay that is accepted: a day, so that a server's mistake cannot end a client's updates.
    static let longest = Duration.seconds(86_400)

    /// How long to wait; nil when the field is missing or not valid.
    static func delay(in fields: HTTPFields, now: Date) -> Duration? {
        guard let text = fields[.retryAfter]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number that overflows is certainly longer than the longest delay.
            return min(Int64(text).map { .seconds($0) } ?? longest, longest)
        }
        let present = HTTPDate(nearestTo: now.timeIntervalSince1970)
        guard let date = HTTPDate(text, now: present) else { return nil }
        return min(max(.seconds(date.secondsSinceEpoch - present.secondsSinceEpoch), .zero), longest)
    }
}
