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
}
#endif
