/// A condition of a rule on the query items of a URL, which may be among others and in any order.
///
/// Names and values are given as plain text and compared character by character with the percent-decoded ones of the
/// URL; `+` is a plus sign. If an item occurs several times, it is enough that one of them meets the condition.
public enum QueryCondition: Sendable, Hashable {
    /// The URL has an item of this name, with any value or none.
    case present(_ name: String)

    /// The URL has an item of this name and value; `name` without `=` has the empty value.
    case equals(_ name: String, _ value: String)

    /// Whether a URL meets the condition.
    public func isMet(by url: CanonicalURL) -> Bool {
        url.string.withUTF8Bytes { isMet(byQueryOf: $0, from: Int(url.layout.pathEnd) + 1) }
    }

    func isMet(byQueryOf bytes: UnsafeBufferPointer<UInt8>, from queryStart: Int) -> Bool {
        var start = queryStart
        while start < bytes.count {
            var end = start
            var nameEnd: Int?
            while end < bytes.count, bytes[end] != UInt8(ascii: "&") {
                if nameEnd == nil, bytes[end] == UInt8(ascii: "=") { nameEnd = end }
                end += 1
            }
            if isMet(byItem: bytes, start, nameEnd ?? end, end) { return true }
            start = end + 1
        }
        return false
    }

    private func isMet(byItem bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ nameEnd: Int, _ end: Int) -> Bool {
        switch self {
        case .present(let name):
            Self.decodes(bytes, start, nameEnd, to: name)
        case .equals(let name, let value):
            Self.decodes(bytes, start, nameEnd, to: name) && Self.decodes(bytes, min(nameEnd + 1, end), end, to: value)
        }
    }

    /// Whether the bytes, percent-decoded, equal the text; compares them without decoding into a copy.
    private static func decodes(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ start: Int,
        _ end: Int,
        to text: String
    ) -> Bool {
        var index = start
        for expected in text.utf8 {
            guard index < end else { return false }
            if let decoded = percentDecodedByte(bytes, at: index, end: end) {
                guard decoded == expected else { return false }
                index += 3
            } else {
                guard bytes[index] == expected else { return false }
                index += 1
            }
        }
        return index == end
    }
}

extension QueryCondition: CustomStringConvertible {
    /// `name=*` or `name=value`.
    public var description: String {
        switch self {
        case .present(let name): "\(name)=*"
        case .equals(let name, let value): "\(name)=\(value)"
        }
    }
}
