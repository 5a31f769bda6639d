import Foundation

#if Gateway
import WaystationGateway
#endif

/// An authority in the output of commands.
struct AuthoritySummary: Encodable {
    /// The path of the root's certificate.
    let rootCertificate: String
    /// The hosts for which it signs; names below them are included.
    let names: [String]
    let expires: Date
    /// The reason why it was made just now; nil if it was there before.
    let madeBecause: String?
}

#if Gateway
extension AuthoritySummary {
    init(_ authority: CertificateAuthority) {
        rootCertificate = authority.rootCertificate.path(percentEncoded: false)
        names = authority.names
        expires = authority.expires
        madeBecause = authority.madeBecause
    }
}
#endif
