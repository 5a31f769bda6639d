import Foundation
import HTTPTypes
import WaystationFields

/// The `Retry-After` field (RFC 9110 §10.2.3): a number of seconds, or a date.
enum RetryAfter {
    /// No server may silence a client for longer than a day: a slip of one must not end its updates.
    static let longest = Duration.seconds(86_400)

    /// How long to wait; nil when the field is missing or says nothing.
    static func delay(in fields: HTTPFields, now: Date) -> Duration? {
        guard let text = fields[.retryAfter]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // Digits that do not fit are only more of them.
            return min(Int64(text).map { .seconds($0) } ?? longest, longest)
        }
        let present = HTTPDate(nearestTo: now.timeIntervalSince1970)
        guard let date = HTTPDate(text, now: present) else { return nil }
        return min(max(.seconds(date.secondsSinceEpoch - present.secondsSinceEpoch), .zero), longest)
    }
}
