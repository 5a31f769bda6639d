#if Gateway
import Foundation
import WaystationGateway

/// An authority, and the commands that make programs accept its certificates.
struct TrustResult: CommandResult {
    struct Step: Encodable {
        let programs: String
        let install: [String]
        let remove: [String]
    }

    let authority: AuthoritySummary
    /// The patterns of rules whose hosts get no certificate.
    let tunnelled: [String]
    let steps: [Step]

    private let warnings: [String]
    private let stepTexts: [String]

    private enum CodingKeys: CodingKey { case authority, tunnelled, steps }

    init(_ authority: CertificateAuthority, for plan: GatewayPlan) {
        self.authority = AuthoritySummary(authority)
        tunnelled = authority.uncertifiedPatterns
        warnings = authority.warnings
        let page = plan.file.startPages.first { page in
            guard let url = URL(string: page), url.scheme == "https", let host = url.host else { return false }
            return authority.certifies(host, port: url.port ?? 443)
        }
        let port = plan.file.gateway.port.flatMap { $0 == 0 ? nil : $0 }
        let found = authority.trustSteps(port: port, page: page)
        steps = found.map { Step(programs: $0.programs, install: $0.install, remove: $0.remove) }
        stepTexts = found.map { "\($0)" }
    }

    var text: String {
        var lines = [
            """
            \(authority.rootCertificate.printable) is the root of an authority for \
            \(authority.names.joined(separator: ", ")) and all names below, valid until \
            \(authority.expires.formatted(.iso8601)).
            """
        ]
        if let reason = authority.madeBecause {
            lines.append("The authority is new, because \(reason): install it now, and restart the gateway if it runs.")
        }
        lines += warnings.map { "warning: \($0)" }
        return (lines + stepTexts.map { "\n" + $0.trimmingCharacters(in: .newlines) }).joined(separator: "\n")
    }
}
#endif
