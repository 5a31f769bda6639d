#if Redis
import NIOCore

@testable import WaystationRedis

extension RESPValue {
    /// A list of strings.
    static func strings(_ strings: String...) -> RESPValue { .list(strings.map(string)) }

    /// A string.
    static func string(_ string: String) -> RESPValue { .bytes(ByteBuffer(string: string)) }
}

extension RedisEndpoint {
    /// A server of `host:port`, for tests.
    init(_ host: String, _ port: Int) { self.init(host: host, port: port) }
}
#endif
