#if Gateway
import Foundation
import Logging
import NIOSSL
import Synchronization

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
        warn(about: authority, now: now)
        do {
            return Secured(
                context: try authority.context(for: origin.host, now: now),
                serving: GatewayServing(self, securedFor: origin)
            )
        } catch { throw .noCertificate(origin.host, error) }
    }

    /// Logs once that the authority is about to end, or has ended: a gateway that runs for weeks does not renew it.
    private func warn(about authority: CertificateAuthority, now: Date) {
        guard authority.expires.timeIntervalSince(now) < StoredAuthority.margin,
            !hasWarnedOfEnd.exchange(true, ordering: .relaxed)
        else { return }
        options.logger.warning(
            """
            the gateway's authority is valid only until \(authority.expires): open it again and start the gateway \
            anew, so that a new authority is made, and install that one in the browsers
            """
        )
    }
}
#endif
