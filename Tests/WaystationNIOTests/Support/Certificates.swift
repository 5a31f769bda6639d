#if NIO
import NIOSSL
import WaystationTestSupport

extension Certificates {
    /// The certificates of all tests; they are made once, because that takes a while.
    static let shared = Result { try Certificates() }

    /// The TLS context of a server.
    func server(_ name: String, wantsClient: Bool = false, protocols: [String] = []) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(path("\(name).pem")).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: path("\(name).key"), format: .pem))
        )
        configuration.applicationProtocols = protocols
        if wantsClient {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .file(path("ca.pem"))
        }
        return try NIOSSLContext(configuration: configuration)
    }
}
#endif
