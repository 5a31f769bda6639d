#if Redis
import NIOCore

/// A value of Redis' protocol, RESP2 or RESP3 (https://redis.io/docs/latest/develop/reference/protocol-spec/).
///
/// Types that mean the same to a client of commands are one case: a set or map is the list of its elements, a double or a
/// big number is its text.
enum RESPValue: Equatable, Sendable {
    case null
    case text(String)
    case number(Int64)
    case bytes(ByteBuffer)
    case list([RESPValue])
    /// A message that the server sends without a command (RESP3).
    case push([RESPValue])
    case error(String)

    /// Whether the value is an error.
    var isError: Bool { if case .error = self { true } else { false } }

    /// The text of a string of either kind; nil for other values.
    var string: String? {
        switch self {
        case .text(let text): text
        case .bytes(let buffer): String(buffer: buffer)
        case .null, .number, .list, .push, .error: nil
        }
    }

    /// The elements of a list; nil for other values.
    var elements: [RESPValue]? { if case .list(let elements) = self { elements } else { nil } }

    /// A number, or a string that is one; nil for other values.
    var integer: Int? {
        if case .number(let number) = self { return Int(exactly: number) }
        return string.flatMap(Int.init)
    }
}
#endif
