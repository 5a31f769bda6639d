#if Gateway
import Foundation
import Logging
import NIOSSL
import Synchronization
import Waystation

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
    /// - Throws: A refusal, if the authority has expired, or if the rules block every URL at the host and port.
    func securing(_ host: String, port: Int, now: Date) throws(Refusal) -> Secured? {
        guard let authority = options.authority, authority.certifies(host, port: port),
            let origin = OriginName(scheme: "https", host: host, port: port)
        else {
            try checkTunnel(to: host, port: port)
            return nil
        }
        warn(about: authority, now: now)
        do {
            return Secured(
                context: try authority.context(for: origin.host, now: now),
                serving: GatewayServing(self, securedFor: origin)
            )
        } catch { throw .noCertificate(origin.host, error) }
    }

    /// Refuses a tunnel if the rules block all that a client could ask for within it.
    ///
    /// At a port that is neither that of https nor that of http, a client may speak either. If one of them is blocked,
    /// the tunnel is refused, unless a rule names the other one's origin.
    private func checkTunnel(to host: String, port: Int) throws(Refusal) {
        let authority = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        let schemes = ["https", "http"].filter { scheme in
            OriginName.standardPort(of: scheme) == port || (port != 443 && port != 80)
        }
        let origins = schemes.compactMap { URL(string: "\($0)://\(authority)/") }
        guard origins.contains(where: loads.blocksOrigin), !origins.contains(where: loads.servesOrigin) else { return }
        throw .blockedTunnel(authority)
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
