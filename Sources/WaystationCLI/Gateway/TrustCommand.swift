import ArgumentParser
import Foundation
import WaystationRulesFile

#if Gateway
import WaystationGateway
#endif

struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Prints how to make browsers accept the certificates of a gateway, and how to undo it.",
        usage: "waystation gateway trust --rules <file> [--authority <dir>] [--format <format>]",
        discussion: """
            A gateway that is a proxy answers https by the rules if it has an authority: a directory under \
            `[authority]` in the rules, or --authority. Browsers accept the certificates of an authority when its \
            root is installed in them. The command prints the shell commands that install and remove the root, and \
            changes nothing but the authority's directory: \
            it makes an authority if the directory has no authority for the hosts of the rules, or if that one expires \
            within three days.

            An authority is valid for 30 days. An authority can sign only for the hosts of the rules and for names \
            below them.

            Examples:
              waystation gateway trust --rules kiosk.toml
              waystation gateway trust --rules kiosk.toml --authority /var/lib/kiosk/authority --format json
            """
    )

    // The argument parser gives the options of a start to the command above, and the same groups to both.
    @OptionGroup
    var rulesOptions: RulesOptions

    @OptionGroup
    var options: OutputOptions

    func run() throws {
        #if Gateway
        let document = try RulesDocument(rulesOptions.rules)
        do {
            // Nothing is opened but the authority, so its rules may use what the command line of a start provides.
            let file = try document.rules(beside: [.cache, .packs, .proxy])
            let plan = GatewayPlan(document, file, authority: rulesOptions.authority)
            guard let authority = try plan.authority() else { throw GatewayFailure.noAuthority(document.name) }
            try options.write(TrustResult(authority, for: plan))
        } catch let error as RulesFile.Problems {
            throw GatewayFailure.invalidRules(RulesCheck(document, error.problems).message)
        }
        #else
        throw GatewayFailure.notBuilt
        #endif
    }
}
