/// What a `Range` field asks of a file of known length (RFC 9110 section 14).
enum ByteRange: Sendable, Equatable {
    /// The field does not apply: another unit, invalid, several ranges, or nothing to cut. Answer the whole file.
    case whole
    /// A run of bytes that the file has. Answer 206.
    case part(Range<Int>)
    /// No byte of what was asked for exists. Answer 416.
    case unsatisfiable

    /// Reads a field value.
    ///
    /// A suffix of an empty file is the whole of it, though 206 could not say so: there is no `Content-Range` for zero
    /// bytes.
    init(_ value: String, length: Int) {
        self = .whole
        guard let equals = value.utf8.firstIndex(of: UInt8(ascii: "=")) else { return }
        // Section 14.1: names of range units are case-insensitive.
        guard value[..<equals].lowercased() == "bytes" else { return }
        let elements = value.utf8[equals...].dropFirst()
            .split(separator: UInt8(ascii: ","))
            .map { $0.trimmingSpace() }
            .filter { !$0.isEmpty }
        guard elements.count == 1, let element = elements.first,
            let dash = element.firstIndex(of: UInt8(ascii: "-"))
        else { return }
        let first = DecimalBound(element[..<dash])
        let last = DecimalBound(element[dash...].dropFirst())
        switch (first, last) {
        case (.absent, .number(let count)):
            if count == 0 { self = .unsatisfiable } else if length > 0 { self = .part(max(0, length - count)..<length) }
        case (.number(let first), .absent):
            self = first < length ? .part(first..<length) : .unsatisfiable
        case (.number(let first), .number(let last)):
            guard first <= last else { return }
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
        default: return
        }
    }
}

/// One side of a range; a number too large for `Int` is as good as the largest.
private enum DecimalBound {
    case absent
    case number(Int)
    case invalid

    init(_ digits: Substring.UTF8View) {
        guard !digits.isEmpty else {
            self = .absent
            return
        }
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            self = .invalid
            return
        }
        self = .number(Int(Substring(digits)) ?? .max)
    }
}

extension Substring.UTF8View {
    /// Without the optional whitespace around a list element (section 5.6.1).
    fileprivate func trimmingSpace() -> Substring.UTF8View {
        var rest = drop(while: \.isSpace)
        while rest.last?.isSpace == true { rest.removeLast() }
        return rest
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
