#if NIO
/// Identifies an exchange of a transport.
struct ExchangeID: Hashable, Sendable {
    var number: UInt64
}
#endif
