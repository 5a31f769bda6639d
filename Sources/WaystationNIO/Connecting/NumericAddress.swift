#if NIO
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An IPv4 or IPv6 address that is written in numbers.
struct NumericAddress: Equatable {
    /// The address in network order, as certificates carry it: 4 or 16 bytes.
    var bytes: [UInt8]

    /// Nil if the text is a name and not an address.
    init?(_ text: String) {
        var buffer = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &buffer) == 1 {
            bytes = Array(buffer.prefix(4))
        } else if inet_pton(AF_INET6, text, &buffer) == 1 {
            bytes = buffer
        } else {
            return nil
        }
    }
}
#endif
