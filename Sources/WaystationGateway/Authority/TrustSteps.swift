#if Gateway
import Foundation
import WaystationStorage
import WaystationHTTP

/// The commands that make one kind of program accept an authority's certificates, and those that undo it.
public struct TrustSteps: Sendable, Hashable, CustomStringConvertible {
    /// The programs that the commands are for.
    public let programs: String
    /// The commands of a POSIX shell that install the root's certificate.
    public let install: [String]
    /// The commands that remove it.
    public let remove: [String]

    /// A text for a terminal.
    public var description: String {
        let lines = { (commands: [String]) in commands.map { "  \($0)\n" }.joined() }
        let removal = remove.isEmpty ? "" : "to remove it:\n" + lines(remove)
        return "\(programs):\n" + lines(install) + removal
    }
}

extension CertificateAuthority {
    /// The commands that install the root's certificate, and remove it: for Chromium, for programs that use the
    /// system's certificates, such as WebKitGTK, and for curl.
    ///
    /// Each directory has one name in the stores of certificates, so that the commands replace the authority that was
    /// installed before.
    public var trustSteps: [TrustSteps] { trustSteps() }

    /// The commands, with the proxy's port and a page in the examples of curl.
    ///
    /// - Parameters:
    ///   - port: The port of the gateway; nil if it is not known.
    ///   - page: A page that a rule takes; nil if the caller knows no such page.
    /// - Returns: The commands.
    package func trustSteps(port: Int? = nil, page: String? = nil) -> [TrustSteps] {
        TrustSteps.all(for: rootCertificate, port: port, page: page)
    }
}

extension TrustSteps {
    /// The steps for a root's certificate.
    static func all(for certificate: URL, port: Int? = nil, page: String? = nil) -> [TrustSteps] {
        let file = quoted(certificate.path)
        let name = name(of: certificate.deletingLastPathComponent())
        let request =
            "--proxy http://127.0.0.1:\(port.map { "\($0)" } ?? "PORT") \(page.map(quoted) ?? "https://HOST/")"
        let system = "/usr/local/share/ca-certificates/\(name).crt"
        return [
            TrustSteps(
                programs: "Chromium and Chrome, for the present user (certutil is in Debian's libnss3-tools)",
                install: [
                    #"mkdir -p "$HOME/.pki/nssdb""#,
                    #"certutil -d "sql:$HOME/.pki/nssdb" -L >/dev/null 2>&1 || certutil -d "sql:$HOME/.pki/nssdb" -N --empty-password"#,
                    #"certutil -d "sql:$HOME/.pki/nssdb" -D -n \#(name) 2>/dev/null || true"#,
                    #"certutil -d "sql:$HOME/.pki/nssdb" -A -t C,, -n \#(name) -i \#(file)"#,
                ],
                remove: [#"certutil -d "sql:$HOME/.pki/nssdb" -D -n \#(name)"#]
            ),
            TrustSteps(
                programs: "WebKitGTK and all other programs that use the system's certificates (Debian), as root",
                // The mode of the authority's own file lets no other user read it.
                install: ["install -m 644 \(file) \(system)", "update-ca-certificates"],
                remove: ["rm -f \(system)", "update-ca-certificates --fresh"]
            ),
            TrustSteps(
                programs: "curl, for one command",
                install: ["curl --cacert \(file) \(request)"],
                remove: []
            ),
            TrustSteps(
                programs: "curl, for all commands of a shell (they then refuse all other authorities)",
                install: ["export CURL_CA_BUNDLE=\(file)", "curl \(request)"],
                remove: ["unset CURL_CA_BUNDLE"]
            ),
        ]
    }

    /// The name of a directory's authority in stores of certificates.
    private static func name(of directory: URL) -> String {
        "waystation-gateway-" + MessageDigest.of(Array(directory.path.utf8)).prefix(4).hexadecimal
    }

    /// A text as one word of a POSIX shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
#endif
