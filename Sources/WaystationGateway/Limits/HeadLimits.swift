#if Gateway
import NIOHTTP1

extension NIOHTTPDecoderLimitConfiguration {
    /// The limits of heads, from clients and from the origins of web sockets.
    static var gateway: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 64 << 10
        limits.maxHeaderListSize = 256 << 10
        limits.maxHeaderFieldCount = 256
        return limits
    }
}
#endif
