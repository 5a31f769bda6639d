#if Gateway
import Foundation
public import WaystationHTTP
import WaystationStorage

/// The reason why an authority cannot be opened, or cannot make a certificate.
public struct CertificateAuthorityError: CodedError {
    /// The kind of a reason, which says what must be corrected; later releases may add more.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// A pattern of the rules is not valid, or the rules name no host, or too many.
        public static let invalidRules = Code(description: "invalidRules")
        /// The stored authority is damaged, has expired, can be read by others, or is not for the host.
        public static let unusableAuthority = Code(description: "unusableAuthority")
        /// The directory of the authority, or its disk, cannot be used.
        public static let unusableDirectory = Code(description: "unusableDirectory")
    }

    /// The kind of the reason.
    public let code: Code
    /// The problem, and how to correct it.
    public let message: String
    /// The error that caused this one; the message names it.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message.shown(upTo: 2_000)
        self.cause = cause
    }

    /// The error itself, or one that names the directory.
    init(_ error: any Error, in directory: String) {
        if let error = error as? CertificateAuthorityError {
            self = error
            return
        }
        let code: Code =
            switch error {
            case is FileError: .unusableDirectory
            case is URLPatternError: .invalidRules
            default: .unusableAuthority
            }
        self.init(code, "the authority in \(directory) cannot be opened: \(error)", cause: error)
    }

    /// The code and the message, which also names the cause.
    public var description: String { "\(code): \(message)" }

    static func noHosts(_ leftOut: [String]) -> CertificateAuthorityError {
        let found = leftOut.isEmpty ? "" : " (it has \(leftOut.prefix(3).joined(separator: ", ")))"
        return CertificateAuthorityError(
            .invalidRules,
            """
            no rule names a host of https for which a certificate can be made\(found): add a rule such as \
            https://shop.example/**
            """
        )
    }

    static func tooManyHosts(_ count: Int, limit: Int) -> CertificateAuthorityError {
        CertificateAuthorityError(
            .invalidRules,
            "the rules name \(count) hosts; an authority is for \(limit) at most: use patterns such as https://*.shop.example/**"
        )
    }

    static func openToOthers(_ path: String, mode: UInt32) -> CertificateAuthorityError {
        CertificateAuthorityError(
            .unusableAuthority,
            """
            other users may read the key in \(path) (its mode is \(String(mode, radix: 8)), it must be 600): remove the \
            authority's certificate from every browser, delete the file, and install the new authority
            """
        )
    }

    static func damaged(_ path: String, _ reason: String, cause: (any Error)? = nil) -> CertificateAuthorityError {
        CertificateAuthorityError(
            .unusableAuthority,
            "\(path) has no usable authority (\(reason)): delete the file, and install the new authority",
            cause: cause
        )
    }

    static func outside(_ host: String, _ names: [String]) -> CertificateAuthorityError {
        CertificateAuthorityError(
            .unusableAuthority,
            "\(host.shown(upTo: 253)) is outside the authority's constraint, which permits \(names.prefix(20).joined(separator: ", "))"
        )
    }

    static func expired(_ end: Date) -> CertificateAuthorityError {
        CertificateAuthorityError(
            .unusableAuthority,
            """
            the authority is valid only until \(end.formatted(.iso8601)): open it again, restart the gateway with it, \
            and install its new certificate
            """
        )
    }
}
#endif
