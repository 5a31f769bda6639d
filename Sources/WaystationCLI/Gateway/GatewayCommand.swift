import ArgumentParser
import Foundation
import Logging
import WaystationRulesFile

struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Answers browsers on this machine by the rules of a file.",
        discussion: """
            A browser loads http://shop.example.localhost:8080/ for https://shop.example/, from packs, files, the cache \
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
            """
    )

    @Option(help: ArgumentHelp("The rules, in TOML.", valueName: "file"))
    var rules: String

    @Option(help: ArgumentHelp("The library of packs; created if missing.", valueName: "dir"))
    var packs: String?

    @Option(help: ArgumentHelp("The directory of the response cache; created if missing.", valueName: "dir"))
    var cache: String?

    @Option(help: ArgumentHelp("The port on this machine; 0 for any free one.", valueName: "number"))
    var port: Int?

    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Whether clients may use the gateway as their proxy.")
    var proxy: Bool?

    @Flag(help: "Show loads, rules, cache, packs and cookies on a page, whose URL is printed.")
    var inspect = false

    @Flag(help: "Open the first page in the browser of the desktop.")
    var open = false

    @Flag(name: .shortAndLong, help: "Write a line for each load to standard error.")
    var verbose = false

    @Flag(help: "Only read the rules, and report their mistakes: exit code 1 if there are any.")
    var check = false

    @OptionGroup
    var options: OutputOptions

    func validate() throws {
        if let port, !(0...65_535).contains(port) {
            throw ValidationError("\(port) is not a port: give a number from 1 to 65535, or 0 for any free one.")
        }
    }

    func run() async throws {
        let document = try RulesDocument(rules)
        var surroundings: RulesFile.Surroundings = []
        if packs != nil { surroundings.insert(.packs) }
        if cache != nil { surroundings.insert(.cache) }
        let file: RulesFile
        do throws(RulesFile.Problems) { file = try document.rules(beside: surroundings) } catch {
            let result = RulesCheck(document, error.problems)
            guard check else { throw GatewayFailure.invalidRules(result.message) }
            try options.write(result)
            throw ExitCode.refused
        }
        let plan = GatewayPlan(document, file, cache: cache, packs: packs)
        if check { return try options.write(try await plan.check()) }
        try await start(plan)
    }

    private func start(_ plan: GatewayPlan) async throws {
        #if Gateway
        let logger = ConsoleLog.logger(isVerbose: verbose)
        let opened = try plan.interceptor(logger)
        for warning in opened.warnings { logger.warning("\(warning)") }
        let run = GatewayRun(
            opened,
            settings: plan.file.gateway.replacing(port: port, isProxy: proxy),
            inspects: inspect,
            logger: logger
        ) { started in
            try options.write(started)
            if open { started.openFirstPage() }
        }
        try await run.untilSignal()
        #else
        throw GatewayFailure(
            code: "notBuilt",
            message: """
                this waystation was built without the gateway: build it with `swift build -c release --traits Gateway \
                --product waystation`
                """,
            exitCode: .refused
        )
        #endif
    }
}

extension GatewaySettings {
    /// The settings with those of the command line in place of the file's.
    fileprivate func replacing(port: Int?, isProxy: Bool?) -> GatewaySettings {
        var settings = self
        settings.port = port ?? settings.port
        settings.isProxy = isProxy ?? settings.isProxy
        return settings
    }
}
