#if Gateway
import Foundation
import WaystationStorage

/// An authority as it is stored: the key and the certificate of the intermediate, and the certificate of the root.
///
/// The root's key is never stored.
struct StoredAuthority: Sendable {
    let key: CertificateKey
    let intermediate: Certificate
    let root: Certificate

    /// How long an authority is valid.
    static let lifetime = TimeInterval(30 * 86_400)
    /// An authority that is valid for less than this is replaced when it is opened.
    static let margin = TimeInterval(3 * 86_400)
    /// Certificates are valid from a little before they are made, because clocks differ.
    static let skew = TimeInterval(3_600)
    /// How long the certificate of a host is valid, unless the authority ends earlier.
    private static let leafLifetime = TimeInterval(7 * 86_400)
}

extension StoredAuthority {
    /// Makes an authority for names, and all names below them.
    ///
    /// Programs may ignore the constraint of a certificate that they trust as a root (RFC 5280 §6.1.1), but not that of an
    /// intermediate. So the root signs one intermediate, and its key ends with this call.
    ///
    /// - Parameters:
    ///   - names: The names of the constraint.
    ///   - now: The present time.
    /// - Throws: An error of libcrypto.
    init(for names: [String], now: Date) throws(CertificateError) {
        let rootKey = try CertificateKey()
        let validity = (now - Self.skew)...(now + Self.lifetime)
        // Two authorities never have the same name, so that stores of certificates keep them apart.
        let number = String(UInt32.random(in: 0 ... .max), radix: 16)
        root = try Certificate(
            .authority(below: 1, permittedNames: names),
            subject: "Waystation gateway \(number), root",
            key: rootKey,
            validity: validity
        )
        key = try CertificateKey()
        intermediate = try Certificate(
            .authority(below: 0, permittedNames: names, signsServers: true),
            subject: "Waystation gateway \(number)",
            key: key,
            validity: validity,
            issuer: (root, rootKey)
        )
    }

    /// Makes the certificate of a host.
    ///
    /// - Parameters:
    ///   - host: A name that the constraint permits, in canonical form.
    ///   - key: The key of the certificate.
    ///   - now: The present time.
    /// - Returns: The certificate.
    /// - Throws: An error of libcrypto.
    func certificate(for host: String, _ key: CertificateKey, now: Date) throws(CertificateError) -> Certificate {
        let start = max(now - Self.skew, intermediate.notBefore)
        return try Certificate(
            .server(names: [host]),
            subject: nil,
            key: key,
            validity: start...max(start, min(now + Self.leafLifetime, intermediate.notAfter)),
            issuer: (intermediate, self.key)
        )
    }

    /// The PEM texts of the key, the intermediate and the root, in this order (RFC 7468).
    var pem: String { [key.pem, intermediate.pem, root.pem].joined(separator: "\n") }

    /// Reads ``pem``.
    ///
    /// - Throws: ``CertificateAuthorityError`` if the text is something else, or if its parts do not belong together.
    init(pem text: String, at path: String) throws(CertificateAuthorityError) {
        let end = "-----END "
        let blocks = text.components(separatedBy: "-----BEGIN ").dropFirst().map { "-----BEGIN " + $0 }
        guard blocks.count == 3, blocks.allSatisfy({ $0.contains(end) }) else {
            throw .damaged(path, "it has \(blocks.count) PEM blocks, not 3")
        }
        do {
            key = try CertificateKey(pem: blocks[0])
            intermediate = try Certificate(pem: blocks[1])
            root = try Certificate(pem: blocks[2])
            if try !intermediate.isOwned(by: key) {
                throw CertificateAuthorityError.damaged(path, "the key is not that of the certificate")
            }
            if try !intermediate.isSigned(by: root) {
                throw CertificateAuthorityError.damaged(path, "the root has not signed the intermediate")
            }
        } catch let error as CertificateAuthorityError {
            throw error
        } catch { throw .damaged(path, "\(error)", cause: error) }
    }

    /// The names of the intermediate's constraint, sorted.
    var names: [String] { intermediate.permittedNames.sorted() }

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
        if now < intermediate.notBefore {
            return
                "the authority is valid only from \(intermediate.notBefore.formatted(.iso8601)): "
                + "the clock was set back"
        }
        let end = min(intermediate.notAfter, root.notAfter)
        if end < now + Self.margin { return "the authority is valid only until \(end.formatted(.iso8601))" }
        return nil
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(20).joined(separator: ", ") + (names.count > 20 ? " and \(names.count - 20) more" : "")
    }
}
#endif
