#if Gateway
import Foundation
import WaystationGateway
import WaystationRulesFile

extension GatewayPlan {
    /// Opens the authority, and makes one if the directory has none for the rules.
    ///
    /// - Returns: The authority; nil if the plan has no directory for one.
    /// - Throws: `RulesFile.Problems` at the place of the directory if the rules allow no authority;
    ///   `CertificateAuthorityError` otherwise.
    func authority() throws -> CertificateAuthority? {
        guard let authorityDirectory else { return nil }
        do { return try CertificateAuthority.open(in: authorityDirectory, for: rules) } catch {
            guard error.subject == .rules, let place = file.authority?.place else { throw error }
            throw RulesFile.Problems(problems: [RulesFileProblem(place, error.description)])
        }
    }

    /// The warnings of the authority, which is opened for them.
    func authorityWarnings() throws -> [String] { try authority()?.warnings ?? [] }
}

extension CertificateAuthority {
    /// Warnings about rules that have no effect on https.
    var warnings: [String] {
        if uncertifiedPatterns.isEmpty { return [] }
        let list = uncertifiedPatterns.map { "`\($0)`" }.joined(separator: ", ")
        return ["no certificates are made for the hosts of \(list): connections to them are tunnels, without rules"]
    }
}
#else
extension GatewayPlan {
    /// None: only the gateway can open an authority.
    func authorityWarnings() throws -> [String] { [] }
}
#endif
