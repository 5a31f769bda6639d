import CWaystation.Libcrypto
package import Foundation

/// A private key on the curve P-256, for certificates (FIPS 186-5).
package struct CertificateKey: Sendable {
    /// The key as a PEM block (PKCS #8, RFC 5958).
    package let pem: String

    /// Makes a new key.
    package init() throws(CertificateError) {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw .ofLibrary("making a key") }
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(context, &made) == 1, let key = made
        else { throw .ofLibrary("making a key") }
        defer { EVP_PKEY_free(key) }
        pem = try writePEM("writing a key") { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    /// Reads a key that ``pem`` has returned.
    package init(pem: String) throws(CertificateError) {
        self.pem = pem
        try withKey { _ in () }
    }

    fileprivate func withKey<Result>(
        _ use: (OpaquePointer) throws(CertificateError) -> Result
    ) throws(CertificateError) -> Result {
        try readPEM(
            pem,
            "reading a key",
            { memory in
                // Without a password here, libcrypto would ask for that of an encrypted key on the terminal.
                var password: CChar = 0
                return PEM_read_bio_PrivateKey(memory, nil, nil, &password)
            },
            EVP_PKEY_free,
            use
        )
    }
}

/// A certificate of version 3 (RFC 5280), signed by ECDSA with SHA-256.
package struct Certificate: Sendable {
    /// The certificate as a PEM block (RFC 7468).
    package let pem: String
    /// The first moment at which it is valid, in whole seconds.
    package let notBefore: Date
    /// The last moment at which it is valid, in whole seconds.
    package let notAfter: Date
    /// The DNS names of its constraint that are permitted, with all names below them.
    package let permittedNames: [String]

    /// The purpose of a certificate.
    package enum Purpose: Sendable {
        /// An authority, with at most so many authorities one below the other under it.
        ///
        /// With permitted names, it can certify these, the names below them, and no addresses.
        case authority(below: Int, permittedNames: [String] = [], signsServers: Bool = false)
        /// A server with these DNS names and addresses.
        case server(names: [String], addresses: [String] = [])
    }

    /// Makes a certificate.
    ///
    /// - Parameters:
    ///   - purpose: Its purpose.
    ///   - subject: The common name of its owner; nil for none, since a host's name may be longer than a common name
    ///     (RFC 5280 §4.2.1.6).
    ///   - key: The key of its owner.
    ///   - validity: When it is valid.
    ///   - issuer: The certificate and the key that sign it; nil to sign itself.
    /// - Throws: An error of libcrypto, or one that names a DNS name that cannot be one.
    package init(
        _ purpose: Purpose,
        subject: String?,
        key: CertificateKey,
        validity: ClosedRange<Date>,
        issuer: (certificate: Certificate, key: CertificateKey)? = nil
    ) throws(CertificateError) {
        let extensions =
            try purpose.extensions(hasSubject: subject != nil) + [
                (NID_subject_key_identifier, "hash"),
                (NID_authority_key_identifier, issuer == nil ? "" : "keyid:always"),
            ]
        guard let made = X509_new() else { throw .ofLibrary("making a certificate") }
        defer { X509_free(made) }
        try key.withKey { key throws(CertificateError) in
            guard X509_set_version(made, 2) == 1, X509_set_pubkey(made, key) == 1,
                ASN1_INTEGER_set_uint64(X509_get_serialNumber(made), .random(in: 1 ... .max)) == 1,
                ASN1_TIME_set(X509_getm_notBefore(made), time_t(validity.lowerBound.timeIntervalSince1970)) != nil,
                ASN1_TIME_set(X509_getm_notAfter(made), time_t(validity.upperBound.timeIntervalSince1970)) != nil
            else { throw .ofLibrary("making a certificate") }
        }
        if let subject = subject.map({ Array($0.utf8) }) {
            let name = X509_get_subject_name(made)
            let count = CInt(clamping: subject.count)
            guard X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, subject, count, -1, 0) == 1 else {
                throw .ofLibrary("naming a certificate")
            }
        }
        func sign(as issuer: OpaquePointer, by key: OpaquePointer) throws(CertificateError) {
            guard X509_set_issuer_name(made, X509_get_subject_name(issuer)) == 1 else {
                throw .ofLibrary("naming the issuer of a certificate")
            }
            var context = X509V3_CTX()
            X509V3_set_ctx(&context, issuer, made, nil, nil, 0)
            for (kind, value) in extensions where !value.isEmpty {
                guard let extending = X509V3_EXT_conf_nid(nil, &context, kind, value) else {
                    throw .ofLibrary("making an extension of a certificate")
                }
                defer { X509_EXTENSION_free(extending) }
                guard X509_add_ext(made, extending, -1) == 1 else { throw .ofLibrary("extending a certificate") }
            }
            guard X509_sign(made, key, EVP_sha256()) > 0 else { throw .ofLibrary("signing a certificate") }
        }
        if let issuer {
            try issuer.certificate.withCertificate { certificate throws(CertificateError) in
                try issuer.key.withKey { key throws(CertificateError) in try sign(as: certificate, by: key) }
            }
        } else {
            try key.withKey { key throws(CertificateError) in try sign(as: made, by: key) }
        }
        try self.init(made)
    }

    /// Reads a certificate from its PEM block.
    package init(pem: String) throws(CertificateError) {
        self = try readPEM(
            pem,
            "reading a certificate",
            { PEM_read_bio_X509($0, nil, nil, nil) },
            X509_free
        ) { certificate throws(CertificateError) in try Certificate(certificate) }
    }

    private init(_ certificate: OpaquePointer) throws(CertificateError) {
        pem = try writePEM("writing a certificate") { PEM_write_bio_X509($0, certificate) }
        notBefore = try Date(X509_get0_notBefore(certificate))
        notAfter = try Date(X509_get0_notAfter(certificate))
        permittedNames = Self.permittedNames(of: certificate)
    }

    /// The certificate in DER form.
    package var der: Data {
        Data(base64Encoded: pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()) ?? Data()
    }

    /// Whether the owner of the key is the owner of this certificate.
    package func isOwned(by key: CertificateKey) throws(CertificateError) -> Bool {
        try withCertificate { certificate throws(CertificateError) in
            try key.withKey { key throws(CertificateError) in X509_check_private_key(certificate, key) == 1 }
        }
    }

    /// Whether the owner of another certificate has signed this one.
    package func isSigned(by issuer: Certificate) throws(CertificateError) -> Bool {
        try withCertificate { certificate throws(CertificateError) in
            try issuer.withCertificate { issuer throws(CertificateError) in
                X509_verify(certificate, X509_get0_pubkey(issuer)) == 1
            }
        }
    }

    private func withCertificate<Result>(
        _ use: (OpaquePointer) throws(CertificateError) -> Result
    ) throws(CertificateError) -> Result {
        try readPEM(pem, "reading a certificate", { PEM_read_bio_X509($0, nil, nil, nil) }, X509_free, use)
    }

    private static func permittedNames(of certificate: OpaquePointer) -> [String] {
        guard let found = X509_get_ext_d2i(certificate, NID_name_constraints, nil, nil) else { return [] }
        let constraints = found.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(constraints) }
        guard let subtrees = constraints.pointee.permittedSubtrees else { return [] }
        return (0..<OPENSSL_sk_num(subtrees)).compactMap { index in
            guard let subtree = OPENSSL_sk_value(subtrees, index)?.assumingMemoryBound(to: GENERAL_SUBTREE.self),
                let name = subtree.pointee.base, name.pointee.type == GEN_DNS, let text = name.pointee.d.dNSName,
                let bytes = ASN1_STRING_get0_data(text)
            else { return nil }
            let count = Int(ASN1_STRING_length(text))
            return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        }
    }
}

extension Certificate.Purpose {
    /// The extensions, in the notation of OpenSSL's `x509v3_config`.
    fileprivate func extensions(hasSubject: Bool) throws(CertificateError) -> [(kind: CInt, value: String)] {
        switch self {
        case .authority(let below, let permittedNames, let signsServers):
            // A constraint says nothing about kinds of names that it does not mention (RFC 5280 §4.2.1.10): an
            // address and its mask, all zero, exclude every address.
            let excluded = ["0.0.0.0/0.0.0.0", "0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0"].map { "excluded;IP:\($0)" }
            let permitted = try permittedNames.map { name throws(CertificateError) in
                "permitted;DNS:\(try Self.checked(name))"
            }
            return [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:\(below)"),
                (NID_key_usage, "critical,keyCertSign"),
                (
                    NID_name_constraints,
                    permitted.isEmpty ? "" : "critical," + (permitted + excluded).joined(separator: ",")
                ),
                (NID_ext_key_usage, signsServers ? "serverAuth" : ""),
            ]
        case .server(let names, let addresses):
            let alternatives =
                try names.map { name throws(CertificateError) in "DNS:\(try Self.checked(name))" }
                + addresses.map { "IP:\($0)" }
            return [
                (NID_basic_constraints, "critical,CA:FALSE"),
                (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth"),
                (NID_subject_alt_name, (hasSubject ? "" : "critical,") + alternatives.joined(separator: ",")),
            ]
        }
    }

    /// A name that has no meaning of its own in the notation of the extensions.
    private static func checked(_ name: String) throws(CertificateError) -> String {
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
        guard isName, !name.isEmpty else {
            throw CertificateError(
                description: "\(name.debugDescription) cannot be the name of a host in a certificate"
            )
        }
        return name
    }
}

/// A reason why a certificate or its key cannot be made or read.
package struct CertificateError: Error, CustomStringConvertible {
    package let description: String

    /// The last error that libcrypto reports for this thread; earlier ones may be of other calls.
    fileprivate static func ofLibrary(_ task: String) -> CertificateError {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        guard let reason = code == 0 ? nil : ERR_reason_error_string(code) else {
            return CertificateError(description: "\(task) failed in libcrypto")
        }
        return CertificateError(description: "\(task) failed in libcrypto: \(String(cString: reason))")
    }
}

/// The flag that marks the text of a name as UTF-8, a macro of OpenSSL.
private let MBSTRING_UTF8: CInt = 0x1000

/// The text that libcrypto writes into memory.
private func writePEM(
    _ task: String,
    _ write: (OpaquePointer) -> CInt
) throws(CertificateError) -> String {
    guard let memory = BIO_new(BIO_s_mem()) else { throw .ofLibrary(task) }
    defer { BIO_free(memory) }
    guard write(memory) == 1 else { throw .ofLibrary(task) }
    var bytes = [UInt8](repeating: 0, count: Int(BIO_ctrl_pending(memory)))
    guard BIO_read(memory, &bytes, CInt(bytes.count)) == CInt(bytes.count) else { throw .ofLibrary(task) }
    return String(decoding: bytes, as: UTF8.self)
}

/// Uses what libcrypto reads from a text.
private func readPEM<Result>(
    _ text: String,
    _ task: String,
    _ read: (OpaquePointer) -> OpaquePointer?,
    _ free: (OpaquePointer?) -> Void,
    _ use: (OpaquePointer) throws(CertificateError) -> Result
) throws(CertificateError) -> Result {
    let bytes = Array(text.utf8)
    guard let memory = BIO_new(BIO_s_mem()) else { throw .ofLibrary(task) }
    defer { BIO_free(memory) }
    guard BIO_write(memory, bytes, CInt(clamping: bytes.count)) == CInt(clamping: bytes.count), let found = read(memory)
    else { throw .ofLibrary(task) }
    defer { free(found) }
    return try use(found)
}

extension Date {
    fileprivate init(_ time: UnsafePointer<ASN1_TIME>?) throws(CertificateError) {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { throw .ofLibrary("reading a time") }
        self.init(timeIntervalSince1970: TimeInterval(timegm(&parts)))
    }
}
