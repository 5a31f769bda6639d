#if Gateway
import Foundation
import NIOSSL

extension GatewayServing {
    /// The parts of a connection that the gateway answers over TLS.
    struct Secured: Sendable {
        let context: NIOSSLContext
        let serving: GatewayServing
    }

    /// Decides what becomes of a client's `CONNECT`.
    ///
    /// - Returns: The parts for answering it with the authority's certificate; nil if the connection is to be a tunnel,
    ///   because the authority makes no certificates for the host.
    /// - Throws: A refusal, if the authority has expired.
    func securing(_ host: String, port: Int, now: Date) throws(Refusal) -> Secured? {
        guard let authority = options.authority, authority.certifies(host, port: port),
            let origin = OriginName(scheme: "https", host: host, port: port)
        else { return nil }
        do {
            return Secured(
                context: try authority.context(for: origin.host, now: now),
                serving: GatewayServing(self, securedFor: origin)
            )
        } catch { throw .noCertificate(origin.host, error) }
    }
}
#endif
