import WaystationFields

/// The combined meaning of a message's `Content-Length` fields (RFC 9110 §8.6).
package enum ContentLength: Hashable, Sendable {
    /// The message has no such field.
    case absent
    /// One number, or the same number several times.
    case bytes(Int)
    /// A value that is not a decimal number, or contradictory numbers: the length is unknown (RFC 9112 §6.3).
    case invalid

    /// Reads a field value, in which several lines are joined by commas.
    package init(_ value: String?) {
        guard let value else {
            self = .absent
            return
        }
        var length: Int?
        for member in value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let digits = member.trimmingSpace()
            guard !digits.isEmpty, digits.allSatisfy({ $0.decimalDigit != nil }), let number = Int(Substring(digits)),
                length == nil || length == number
            else {
                self = .invalid
                return
            }
            length = number
        }
        self = length.map(Self.bytes) ?? .invalid
    }
}
