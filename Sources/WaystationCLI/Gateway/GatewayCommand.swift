import ArgumentParser
import Foundation
import Logging
import WaystationRulesFile

struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Answers browsers on this machine by the rules of a file.",
        usage: """
            waystation gateway --rules <file> [<options>]
            waystation gateway trust --rules <file> [--authority <dir>] [--format <format>]
            """,
        discussion: """
            A browser loads http://shop-example.localhost:8080/ for https://shop.example/, from packs, files, the cache \
            or the network, as the first rule for the URL says. A URL without a rule is refused. The command prints \
            where the pages are, and ends at Ctrl-C or SIGTERM, when the present requests have ended.

            The rules are a file in TOML; its paths are relative to the file:

              [gateway]
              port = 8080

              [cache]
              directory = "cache"

              [[rule]]
              url = "https://shop.example/docs/**"
              via = ["files", "cache"]
              directory = "site"
              at = "https://shop.example/docs/"
              strategy = "network-first"
              timeout = "3s"

            Docs/CommandLine.md lists its keys. The options below replace those of the file.

            Examples:
              waystation gateway --rules kiosk.toml
              waystation gateway --rules kiosk.toml --check
              waystation gateway --rules kiosk.toml --packs /var/lib/kiosk/packs --port 8080 --verbose
              waystation gateway trust --rules kiosk.toml
            """,
        subcommands: [TrustCommand.self]
    )

    @OptionGroup
    var rulesOptions: RulesOptions

    @Option(help: ArgumentHelp("The library of packs; created if missing.", valueName: "dir"))
    var packs: String?

    @Option(help: ArgumentHelp("The directory of the response cache; created if missing.", valueName: "dir"))
    var cache: String?

    @Option(help: ArgumentHelp("The port on this machine; 0 for any free one.", valueName: "number"))
    var port: Int?

    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Whether clients may use the gateway as their proxy.")
    var proxy: Bool?

    @Flag(
        inversion: .prefixedNo,
        exclusivity: .exclusive,
        help: "Show loads, rules, cache, packs, cookies and events on a page, whose URL is printed."
    )
    var inspect: Bool?

    @Flag(help: "Open the first page in the browser of the desktop.")
    var open = false

    @Flag(name: .shortAndLong, help: "Write a line for each load and each refused request to standard error.")
    var verbose = false

    @Flag(help: "Only read the rules, and report their mistakes: exit code 1 if there are any.")
    var check = false

    @OptionGroup
    var options: OutputOptions

    func validate() throws {
        if let port, !(0...65_535).contains(port) {
            throw ValidationError("\(port) is not a port: give a number from 1 to 65535, or 0 for any free one.")
        }
        if rulesOptions.authority != nil, proxy == false {
            throw ValidationError("--authority has an effect only for a proxy: leave out --no-proxy, or --authority.")
        }
    }

    func run() async throws {
        let document = try RulesDocument(rulesOptions.rules)
        do {
            let plan = try plan(document)
            if check { return try options.write(try await plan.check()) }
            try await start(plan)
        } catch let error as RulesFile.Problems {
            let result = RulesCheck(document, error.problems)
            guard check else { throw GatewayFailure.invalidRules(result.message) }
            try options.write(result)
            throw ExitCode.refused
        }
    }

    /// The rules of the document, with the options of the command line in place of its own.
    private func plan(_ document: RulesDocument) throws -> GatewayPlan {
        var surroundings: RulesFile.Surroundings = []
        if packs != nil { surroundings.insert(.packs) }
        if cache != nil { surroundings.insert(.cache) }
        if isProxy != nil { surroundings.insert(.proxy) }
        var file = try document.rules(beside: surroundings)
        file.gateway.port = port ?? file.gateway.port
        file.gateway.isProxy = isProxy ?? file.gateway.isProxy
        file.gateway.hasInspector = inspect ?? file.gateway.hasInspector
        var plan = GatewayPlan(document, file, cache: cache, packs: packs, authority: rulesOptions.authority)
        if file.gateway.isProxy != true { plan.authorityDirectory = nil }
        return plan
    }

    private func start(_ plan: GatewayPlan) async throws {
        #if Gateway
        let logger = ConsoleLog.logger(isVerbose: verbose)
        let opened = try plan.interceptor(logger)
        let authority = try plan.authority()
        for warning in opened.warnings + (authority?.warnings ?? []) { logger.warning("\(warning)") }
        let run = GatewayRun(opened, settings: plan.file.gateway, authority: authority, logger: logger) { started in
            try options.write(started)
            if open { started.openFirstPage() }
        }
        try await run.untilSignal()
        #else
        throw GatewayFailure.notBuilt
        #endif
    }

    /// Whether the command line decides if the gateway is a proxy, and how.
    private var isProxy: Bool? { rulesOptions.authority == nil ? proxy : true }
}
