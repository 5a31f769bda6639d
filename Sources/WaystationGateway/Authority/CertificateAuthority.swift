#if Gateway
public import Foundation
import NIOSSL
import Synchronization
public import Waystation
import WaystationStorage
import WaystationHTTP

/// An authority that makes certificates for the hosts of rules, and for no others.
///
/// With it, a gateway that is a proxy answers `https` URLs by the rules:
///
/// ```swift
/// let authority = try CertificateAuthority.open(in: directory, for: rules)
/// let gateway = Gateway(interceptor) {
///     $0.isProxy = true
///     $0.authority = authority
/// }
/// for steps in authority.trustSteps { print(steps) }
/// ```
///
/// Browsers accept the certificates only after the authority's root, ``rootCertificate``, was installed in them;
/// ``trustSteps`` gives the commands. The key of the root is thrown away when the authority is made. The stored key is
/// that of an intermediate whose certificate permits only the hosts of the rules and the names below them, and no
/// addresses: programs that check certificates refuse what it signs for any other host (RFC 5280 §4.2.1.10).
///
/// An authority is valid for 30 days; ``open(in:for:now:)`` makes another one in the last three of them, which must be
/// installed again. All members may be called from any thread.
public final class CertificateAuthority: Sendable {
    /// The root's certificate, a PEM file.
    public let rootCertificate: URL
    /// The names for which the authority makes certificates, sorted; it may make them for all names below them, too.
    public let names: [String]
    /// The patterns of rules for `https` whose hosts get no certificate, because they name every host, an address, or a
    /// public suffix other than `localhost`: a top-level domain, or one such as `co.uk` or `github.io`.
    ///
    /// The constraint of a certificate permits all names below a name: one for the host `dev` would permit `web.dev`.
    /// A gateway does not look into connections to them.
    public let uncertifiedPatterns: [String]
    /// The reason why a new authority was made, whose root must be installed; nil if the stored one is used.
    public let madeBecause: String?
    /// The time until which the authority is valid.
    public let expires: Date

    private let hosts: CertifiedHosts
    private let stored: StoredAuthority
    private let contexts = Mutex(LeastRecentlyUsed<String, HostContext>())

    private struct HostContext: Sendable {
        let context: NIOSSLContext
        let renewal: Date
    }

    /// The largest number of names in a constraint, which is a part of each handshake.
    private static let maximumNames = 1_000
    private static let keptContexts = 256

    private init(
        _ stored: StoredAuthority,
        _ hosts: CertifiedHosts,
        in directory: AuthorityDirectory,
        madeBecause: String?
    ) {
        self.stored = stored
        self.hosts = hosts
        self.madeBecause = madeBecause
        rootCertificate = URL(filePath: directory.rootPath)
        names = hosts.names
        uncertifiedPatterns = hosts.leftOut
        expires = min(stored.intermediate.notAfter, stored.root.notAfter)
    }

    /// Opens the authority of a directory, and makes a new one if the directory has no authority, if the rules name other
    /// hosts than before, or if the authority expires within three days; ``madeBecause`` says why.
    ///
    /// - Parameters:
    ///   - directory: The directory, which is made with mode 0700; the file of the key has mode 0600. Give each set of
    ///     rules a directory of its own.
    ///   - rules: The rules of the gateway's interceptor.
    ///   - now: The present time.
    /// - Returns: The authority.
    /// - Throws: ``CertificateAuthorityError`` if the rules name no host or more than 1,000; if the key is damaged or
    ///   can be read by other users; if a pattern is not valid; if the directory is not a file URL; if a file cannot be
    ///   read or written.
    public static func open(
        in directory: URL,
        for rules: [Rule],
        now: Date = Date()
    ) throws(CertificateAuthorityError) -> CertificateAuthority {
        if let problem = directory.fileURLProblem {
            throw CertificateAuthorityError(.unusableDirectory, "the authority's directory \(problem)")
        }
        let directory = AuthorityDirectory(directory)
        do {
            let hosts = CertifiedHosts(of: try rules.map { try URLPattern($0.definition.pattern) })
            guard !hosts.names.isEmpty else { throw CertificateAuthorityError.noHosts(hosts.leftOut) }
            guard hosts.names.count <= maximumNames else {
                throw CertificateAuthorityError.tooManyHosts(hosts.names.count, limit: maximumNames)
            }
            let (stored, madeBecause) = try directory.open(for: hosts.names, now: now)
            return CertificateAuthority(stored, hosts, in: directory, madeBecause: madeBecause)
        } catch { throw CertificateAuthorityError(error, in: directory.path) }
    }

    /// Whether the authority makes a certificate for a host, because a rule takes `https` URLs at this host and port.
    ///
    /// - Parameters:
    ///   - host: The host, such as `shop.example`.
    ///   - port: The port; 443 by default.
    /// - Returns: Whether a gateway answers `CONNECT` to this host and port by itself.
    public func certifies(_ host: String, port: Int = 443) -> Bool { hosts.contains(host, port: port) }

    /// The settings of TLS for a host, with a certificate that is at least a day from its end if the authority is.
    ///
    /// The certificates and their keys are only in memory.
    func context(for host: String, now: Date) throws -> NIOSSLContext {
        let host = host.lowercased()
        let known: NIOSSLContext? = contexts.withLock { contexts in
            guard let position = contexts.position(of: host), let found = contexts[position],
                now < found.renewal
            else { return nil }
            contexts.use(position)
            return found.context
        }
        if let known { return known }
        guard now < expires else { throw CertificateAuthorityError.expired(expires) }
        guard CertificateName.isPermitted(host, below: names) else {
            throw CertificateAuthorityError.outside(host, names)
        }
        let made = try makeContext(for: host, now: now)
        contexts.withLock { contexts in
            contexts.insert(made, for: host, cost: 1)
            if contexts.count > Self.keptContexts { contexts.removeOldest() }
        }
        return made.context
    }

    private func makeContext(for host: String, now: Date) throws -> HostContext {
        let key = try CertificateKey()
        let certificate = try stored.certificate(for: host, key, now: now)
        let chain = try [certificate, stored.intermediate].map {
            NIOSSLCertificateSource.certificate(try NIOSSLCertificate(bytes: Array($0.pem.utf8), format: .pem))
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain,
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.pem.utf8), format: .pem))
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        let renewal = certificate.notAfter == expires ? expires : certificate.notAfter - 86_400
        return HostContext(context: try NIOSSLContext(configuration: configuration), renewal: renewal)
    }
}

/// The directory of an authority.
///
/// | File | Content |
/// | --- | --- |
/// | `authority.pem` | the intermediate's key and certificate, and the root's certificate; mode 0600 |
/// | `root.pem` | the root's certificate, which browsers install |
/// | `lock` | locked while an authority is opened |
struct AuthorityDirectory {
    let path: String
    private let files: any FileSystem

    private static let largest = 4 << 20

    init(_ directory: URL) {
        path = directory.standardizedFileURL.path
        files = LocalFileSystem().confined(to: path)
    }

    var rootPath: String { path + "/root.pem" }
    private var authorityPath: String { path + "/authority.pem" }

    /// Opens the stored authority, or makes and stores another one.
    ///
    /// - Parameters:
    ///   - names: The names that the authority must be for.
    ///   - now: The present time.
    /// - Returns: The authority, and the reason why it was made; nil if it was stored already.
    /// - Throws: ``CertificateAuthorityError`` or `FileError`.
    func open(for names: [String], now: Date) throws -> (authority: StoredAuthority, madeBecause: String?) {
        try files.createDirectory(path)
        let lock = try files.waitForLock(path + "/lock")
        return try withExtendedLifetime(lock) {
            let stored = try read()
            let reason = stored.map { $0.reasonToReplace(for: names, now: now) } ?? "the directory had no authority"
            if let stored, reason == nil {
                if (try? readFile(rootPath)) != stored.root.pem { try write(stored.root.pem, to: rootPath) }
                return (stored, nil)
            }
            let made = try StoredAuthority(for: names, now: now)
            try write(made.pem, to: authorityPath)
            try write(made.root.pem, to: rootPath)
            return (made, reason)
        }
    }

    /// The stored authority; nil if the directory has no authority.
    private func read() throws -> StoredAuthority? {
        // A process that ended while it wrote may have left a file with a key that nothing uses.
        for name in try files.contents(of: path) where name.hasPrefix("new-") {
            try files.removeFile(path + "/" + name)
        }
        guard try files.status(of: authorityPath) != nil else { return nil }
        let mode = try FileManager.default.attributesOfItem(atPath: authorityPath)[.posixPermissions] as? NSNumber
        if let mode, mode.uint32Value & 0o077 != 0 {
            throw CertificateAuthorityError.openToOthers(authorityPath, mode: mode.uint32Value & 0o7777)
        }
        return try StoredAuthority(pem: try readFile(authorityPath), at: authorityPath)
    }

    private func readFile(_ path: String) throws -> String {
        do {
            return String(decoding: try files.readFile(path, limit: Self.largest) ?? Data(), as: UTF8.self)
        } catch let error as FileError where error.code == EOVERFLOW {
            throw CertificateAuthorityError.damaged(path, "it has more than \(Self.largest) bytes")
        }
    }

    /// Replaces a file at once: whenever the process ends, the file has its old content or all of the new one.
    private func write(_ text: String, to path: String) throws {
        let new = self.path + "/new-" + RandomName.make()
        do {
            let file = try files.createFile(new)
            try files.write(Data(text.utf8), to: file)
            try files.synchronize(file)
            try files.rename(new, to: path)
            try files.synchronizeDirectory(self.path)
        } catch {
            try? files.removeFile(new)
            throw error
        }
    }
}
#endif
