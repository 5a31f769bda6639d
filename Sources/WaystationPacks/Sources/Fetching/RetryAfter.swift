import Foundation
import HTTPTypes
import WaystationFields

extension RetryAfter {
    /// The longest delay that is accepted: a day, so that a server's mistake cannot end a client's updates.
    static let longest = Duration.seconds(86_400)

    /// How long to wait; nil when the field is missing or not valid.
    static func delay(in fields: HTTPFields, now: Date) -> Duration? {
        fields[.retryAfter].flatMap {
            delay($0, now: HTTPDate(nearestTo: now.timeIntervalSince1970), atMost: longest)
        }
    }
}
