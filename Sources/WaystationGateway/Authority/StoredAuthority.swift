#if Gateway
import Crypto
import Foundation
import SwiftASN1
import X509

/// An authority as it is stored: the key and the certificate of the intermediate, and the certificate of the root.
///
/// The root's key is never stored.
struct StoredAuthority: Sendable {
    let key: P256.Signing.PrivateKey
    let intermediate: Certificate
    let root: Certificate

    /// How long an authority is valid.
    static let lifetime = TimeInterval(30 * 86_400)
    /// An authority that is valid for less than this is replaced when it is opened.
    static let margin = TimeInterval(3 * 86_400)
    /// Certificates are valid from a little before they are made, because clocks differ.
    static let skew = TimeInterval(3_600)
}

extension StoredAuthority {
    /// The PEM texts of the key, the intermediate and the root, in this order (RFC 7468).
    func pem() throws -> String {
        [
            key.pemRepresentation, try intermediate.serializeAsPEM().pemString, try root.serializeAsPEM().pemString, "",
        ].joined(separator: "\n")
    }

    /// Reads what ``pem()`` has written.
    ///
    /// - Throws: ``CertificateAuthorityError`` if the text is something else, or if its parts do not belong together.
    init(pem text: String, at path: String) throws(CertificateAuthorityError) {
        do {
            let documents = try PEMDocument.parseMultiple(pemString: text)
            guard documents.count == 3 else {
                throw CertificateAuthorityError.damaged(path, "it has \(documents.count) PEM blocks, not 3")
            }
            key = try P256.Signing.PrivateKey(pemRepresentation: documents[0].pemString)
            intermediate = try Certificate(pemDocument: documents[1])
            root = try Certificate(pemDocument: documents[2])
        } catch let error as CertificateAuthorityError {
            throw error
        } catch { throw .damaged(path, "\(error)") }
        guard Certificate.PublicKey(key.publicKey) == intermediate.publicKey else {
            throw .damaged(path, "the key is not that of the certificate")
        }
        guard root.publicKey.isValidSignature(intermediate.signature, for: intermediate) else {
            throw .damaged(path, "the root has not signed the intermediate")
        }
    }

    /// The names of the intermediate's constraint, sorted.
    var names: [String] {
        let constraints = try? intermediate.extensions.nameConstraints
        return constraints.map { Array($0.permittedDNSDomains).sorted() } ?? []
    }

    /// The reason why another authority is needed; nil if this one can be used.
    ///
    /// - Parameters:
    ///   - names: The names that the rules need.
    ///   - now: The present time.
    /// - Returns: The reason, for the app's user.
    func reasonToReplace(for names: [String], now: Date) -> String? {
        if self.names != names {
            return """
                the rules name other hosts: the authority was for \(Self.list(self.names)), and is now for \
                \(Self.list(names))
                """
        }
        if now < intermediate.notValidBefore {
            return
                "the authority is valid only from \(intermediate.notValidBefore.formatted(.iso8601)): "
                + "the clock was set back"
        }
        let end = min(intermediate.notValidAfter, root.notValidAfter)
        if end < now + Self.margin { return "the authority is valid only until \(end.formatted(.iso8601))" }
        return nil
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(20).joined(separator: ", ") + (names.count > 20 ? " and \(names.count - 20) more" : "")
    }
}
#endif
