/// The meaning of a `Range` field for content of a known length (RFC 9110 §14).
package enum ByteRange: Sendable, Equatable {
    /// Another unit, an invalid value, several ranges, or empty content: answer with the whole, which §14.2 always
    /// allows.
    case ignored
    /// A range of bytes that the content has: answer 206.
    case part(Range<Int>)
    /// The content has none of the requested bytes: answer 416.
    case unsatisfiable

    /// Parses a field value; numbers too large for `Int` are replaced by the largest one.
    ///
    /// A suffix range of empty content is satisfiable (§14.1.2), by the whole content. A 206 cannot express that, since
    /// there is no `Content-Range` for zero bytes, so the field is ignored.
    ///
    /// - Parameters:
    ///   - value: The field value.
    ///   - length: The number of bytes in the content, 0 or more.
    package init(_ value: String, length: Int) {
        self = .ignored
        // §14.1: the names of range units are case-insensitive.
        guard let equals = value.utf8.firstIndex(of: UInt8(ascii: "=")),
            value.utf8[..<equals].equalsIgnoringCase("bytes".utf8)
        else { return }
        let elements = value.utf8[equals...].dropFirst().tokenMembers()
        guard elements.count == 1, let element = elements.first, let dash = element.firstIndex(of: UInt8(ascii: "-"))
        else { return }
        switch (Bound(element[..<dash]), Bound(element[dash...].dropFirst())) {
        case (.absent, .number(0)):
            self = .unsatisfiable
        case (.absent, .number(let count)) where length > 0:
            self = .part(max(0, length - count)..<length)
        case (.number(let first), .absent):
            self = first < length ? .part(first..<length) : .unsatisfiable
        case (.number(let first), .number(let last)) where first <= last:
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
        default: break
        }
    }

    /// One side of a range.
    private enum Bound {
        case absent
        case number(Int)
        case invalid

        init(_ digits: Substring.UTF8View) {
            if digits.isEmpty {
                self = .absent
            } else if digits.isDecimal {
                self = .number(Int(Substring(digits)) ?? .max)
            } else {
                self = .invalid
            }
        }
    }
}

/// The `Content-Range` field (RFC 9110 §14.4).
enum ContentRange: Equatable, Sendable {
    /// `bytes 500-999/8000`, or `bytes 500-999/*` where the total is unknown.
    case part(first: Int, last: Int, total: Int?)
    /// `bytes */8000`: the requested range does not exist.
    case unsatisfied(total: Int)

    /// Reads a field value; nil when it is not a valid range of bytes.
    init?(_ value: String) {
        let words = value.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].equalsIgnoringCase("bytes") else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = Self.number(halves[1])
        guard total != nil || halves[1] == "*" else { return nil }
        if halves[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < .max, total.map({ last < $0 }) ?? true
        else { return nil }
        self = .part(first: first, last: last, total: total)
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}
