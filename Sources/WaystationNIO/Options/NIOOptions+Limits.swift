#if NIO
extension NIOOptions {
    /// The limits that a server cannot exceed; each bounds the memory or the work that one response can cost.
    public struct Limits: Sendable, Hashable {
        /// The bytes of a response's heads, or of anything else between two parts of a body, such as chunk extensions
        /// and trailers.
        ///
        /// Default: 256 KiB, a little less than the 300 KB that libcurl accepts.
        public var headBytes = 256 << 10
        /// The number of fields in one head.
        ///
        /// Default: 1,000; real responses have fewer than 100.
        public var fields = 1000
        /// The number of interim responses (1xx) before the final one.
        ///
        /// Default: 32; servers send one or two.
        public var interimResponses = 32
        /// The largest ratio of a decoded body to its encoded bytes, from the moment on when `decodedBytesBeforeRatio`
        /// bytes were decoded.
        ///
        /// Default: 1,100; gzip cannot exceed 1,032, so only br and zstd bombs reach the limit.
        public var decodedRatio = 1100
        /// The number of decoded bytes that are accepted at any ratio.
        ///
        /// Default: 16 MiB.
        public var decodedBytesBeforeRatio = 16 << 20
        /// The number of idle connections that a transport keeps, to all hosts together.
        ///
        /// Default: 32.
        public var idleConnections = 32

        /// Makes the default limits.
        public init() {}
    }
}
#endif
