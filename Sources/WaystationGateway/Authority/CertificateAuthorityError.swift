#if Gateway
public import Foundation
import WaystationFields
import WaystationFileSystem

/// The reason why an authority cannot be opened, or cannot make a certificate.
public struct CertificateAuthorityError: LocalizedError, Sendable, CustomStringConvertible {
    /// The problem, and how to correct it.
    public let description: String

    /// The thing that the user must correct.
    package enum Subject: Sendable {
        /// The rules.
        case rules
        /// The stored authority.
        case authority
        /// The directory, or the disk.
        case files
    }

    /// The thing that the user must correct.
    package let subject: Subject

    /// The description, for `localizedDescription`.
    public var errorDescription: String? { description }

    init(_ description: String, _ subject: Subject = .authority) {
        self.description = description
        self.subject = subject
    }

    /// The error itself, or one that names the directory.
    init(_ error: any Error, in directory: String) {
        self =
            error as? CertificateAuthorityError
            ?? CertificateAuthorityError(
                "the authority in \(directory) cannot be opened: \(error)",
                error is FileError ? .files : .authority
            )
    }

    static func noHosts(_ leftOut: [String]) -> CertificateAuthorityError {
        let found = leftOut.isEmpty ? "" : " (it has \(leftOut.prefix(3).joined(separator: ", ")))"
        return CertificateAuthorityError(
            """
            no rule names a host of https for which a certificate can be made\(found): add a rule such as \
            https://shop.example/**
            """,
            .rules
        )
    }

    static func tooManyHosts(_ count: Int, limit: Int) -> CertificateAuthorityError {
        CertificateAuthorityError(
            "the rules name \(count) hosts; an authority is for \(limit) at most: use patterns such as https://*.shop.example/**",
            .rules
        )
    }

    static func openToOthers(_ path: String, mode: UInt32) -> CertificateAuthorityError {
        CertificateAuthorityError(
            """
            other users may read the key in \(path) (its mode is \(String(mode, radix: 8)), it must be 600): remove the \
            authority's certificate from every browser, delete the file, and install the new authority
            """
        )
    }

    static func damaged(_ path: String, _ reason: String) -> CertificateAuthorityError {
        CertificateAuthorityError(
            "\(path) has no usable authority (\(reason)): delete the file, and install the new authority"
        )
    }

    static func outside(_ host: String, _ names: [String]) -> CertificateAuthorityError {
        CertificateAuthorityError(
            "\(host.shown(upTo: 253)) is outside the authority's constraint, which permits \(names.prefix(20).joined(separator: ", "))"
        )
    }

    static func expired(_ end: Date) -> CertificateAuthorityError {
        CertificateAuthorityError(
            """
            the authority is valid only until \(end.formatted(.iso8601)): open it again, restart the gateway with it, \
            and install its new certificate
            """
        )
    }
}
#endif
