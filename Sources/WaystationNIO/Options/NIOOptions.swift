#if NIO
public import Foundation

/// Settings of a ``NIOTransport`` that `URLSessionConfiguration` lacks.
public struct NIOOptions: Sendable {
    /// Roots that are trusted in addition to the system's.
    public var additionalTrustedRoots: [TrustedRoots] = []
    /// The certificate that identifies the client to servers which ask for one.
    ///
    /// Default: none.
    public var clientIdentity: ClientIdentity?
    /// The versions of HTTP that may be used.
    ///
    /// Default: `.automatic`.
    public var httpVersions: HTTPVersions = .automatic
    /// The time for which an unused connection is kept, in seconds.
    ///
    /// Default: 60.
    public var idleConnectionLifetime: TimeInterval = 60
    /// The time that making a connection may take, in seconds, TLS included.
    ///
    /// Default: 15.
    ///
    /// The time-out of a request applies as well, so a connect never takes longer than that.
    public var connectTimeout: TimeInterval = 15
    /// The limits that a server cannot exceed.
    public var limits = Limits()
    /// The environment that names the proxies.
    ///
    /// Default: the environment of this process.
    public var environment: [String: String] = ProcessInfo.processInfo.environment

    /// Makes the default options.
    public init() {}
}

extension NIOOptions {
    /// Certificates of certificate authorities.
    public enum TrustedRoots: Sendable, Hashable {
        /// A file with one or more certificates in PEM form.
        case pemFile(path: String)
        /// One certificate in DER form.
        case der(Data)
    }

    /// A certificate of the client and its private key.
    public struct ClientIdentity: Sendable, Hashable {
        /// A PEM file with the client's certificate, followed by the certificates that lead to its root.
        public var certificatePath: String
        /// A PEM file with the private key, without a passphrase.
        public var privateKeyPath: String

        /// Makes an identity from two PEM files.
        public init(certificatePath: String, privateKeyPath: String) {
            self.certificatePath = certificatePath
            self.privateKeyPath = privateKeyPath
        }
    }

    /// The versions of HTTP that a transport uses.
    public enum HTTPVersions: Sendable, Hashable {
        /// HTTP/2 if the server chooses it during the TLS handshake (ALPN, RFC 7301), otherwise HTTP/1.1.
        case automatic
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 at once, without asking the server (RFC 9113 §3.3), for `http` and `https` URLs.
        case http2PriorKnowledge
    }
}

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
