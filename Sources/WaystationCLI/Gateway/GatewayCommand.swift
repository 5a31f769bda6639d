import ArgumentParser
import Foundation
import Logging
import Waystation
import WaystationRecording

struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Answers browsers on this machine by the rules of a file.",
        usage: """
            waystation gateway --rules <file> [<options>]
            waystation gateway --archive <file> [--as-of <time>] [<options>]
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

            With --archive, all pages come from a web archive: a WARC, a WACZ or a HAR, which is read in its place.

            Examples:
              waystation gateway --archive site.wacz --as-of 2026-03-01
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
        if rulesOptions.archive != nil, packs != nil || cache != nil {
            throw ValidationError("--archive takes all pages from one file: leave out --packs and --cache.")
        }
        if let port, !(0...65_535).contains(port) {
            throw ValidationError("\(port) is not a port: give a number from 1 to 65535, or 0 for any free one.")
        }
        if rulesOptions.authority != nil, proxy == false {
            throw ValidationError("--authority has an effect only for a proxy: leave out --no-proxy, or --authority.")
        }
    }

    func run() async throws {
        let document = try rulesOptions.document()
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
        var (file, archives) = try rulesOptions.file(document, beside: surroundings)
        file.gateway.port = port ?? file.gateway.port
        file.gateway.isProxy = isProxy ?? file.gateway.isProxy
        file.gateway.hasInspector = inspect ?? file.gateway.hasInspector
        var plan = GatewayPlan(
            document,
            file,
            cache: cache,
            packs: packs,
            authority: rulesOptions.authority,
            opened: archives
        )
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

#if Gateway
import WaystationGateway
#endif

struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Prints how to make browsers accept the certificates of a gateway, and how to undo it.",
        usage: "waystation gateway trust (--rules <file> | --archive <file>) [--authority <dir>] [--format <format>]",
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
        let document = try rulesOptions.document()
        do {
            // No cache, no packs and no archives of the rules are opened, so they may be given at a start alone.
            let (file, archives) = try rulesOptions.file(document, beside: [.cache, .packs, .proxy])
            let plan = GatewayPlan(document, file, authority: rulesOptions.authority, opened: archives)
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

/// The result of reading a rules file.
struct RulesCheck: CommandResult {
    struct Problem: Encodable {
        let line: Int
        let column: Int
        let message: String
    }

    let file: String
    let rules: Int
    let problems: [Problem]
    let warnings: [String]
    private let problemTexts: [String]

    private enum CodingKeys: CodingKey { case file, rules, problems, warnings }

    /// The result for a file with mistakes.
    init(_ document: RulesDocument, _ found: [RulesFileProblem]) {
        file = document.name
        rules = 0
        problems = found.map { Problem(line: $0.place.line, column: $0.place.column, message: $0.message) }
        problemTexts = found.map { $0.text(in: document.name) }
        warnings = []
    }

    /// The result for a file without mistakes.
    init(_ plan: GatewayPlan, warnings: [String]) {
        file = plan.document.name
        rules = plan.file.rules.count
        problems = []
        problemTexts = []
        self.warnings = warnings
    }

    var text: String {
        let mistakes = Self.count(problems.count, "mistake")
        let summary = problems.isEmpty ? "\(Self.count(rules, "rule")), no mistakes" : mistakes
        return (problemTexts + warnings.map { "warning: \($0)" } + ["\(file): \(summary)"]).joined(separator: "\n")
    }

    /// The mistakes as the message of an error.
    var message: String {
        "\(file) has \(Self.count(problems.count, "mistake"))\n" + problemTexts.joined(separator: "\n")
    }

    private static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

extension GatewayPlan {
    /// Makes everything that a start would make, but in a temporary directory, and finds the warnings.
    func check() async throws -> RulesCheck {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waystation-check-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var plan = self
        plan.cacheDirectory = cacheDirectory.map { _ in folder.appending(path: "cache") }
        plan.packsDirectory = packsDirectory.map { _ in folder.appending(path: "packs") }
        plan.authorityDirectory = authorityDirectory.map { _ in folder.appending(path: "authority") }
        let authorityWarnings = try plan.authorityWarnings()
        var opened = try plan.interceptor(Logger(label: "waystation") { _ in SwiftLogNoOpLogHandler() })
        // The cache opens in the background; its directory is removed afterwards.
        await opened.cache?.flush()
        // To open a library writes into its directory, so only its list of modules is read.
        opened.emptyPacks = packsDirectory.flatMap { directory in
            let modules = directory.appending(path: "modules").path(percentEncoded: false)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: modules)) ?? []
            return names.isEmpty ? directory : nil
        }
        let warnings = opened.interceptor.warnings.map { "\($0)" } + opened.warnings + authorityWarnings
        return RulesCheck(self, warnings: warnings)
    }
}

/// The options that `gateway` and `gateway trust` share.
struct RulesOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The rules, in TOML.", valueName: "file"))
    var rules: String?

    @Option(
        help: ArgumentHelp("A WARC, WACZ or HAR from which all pages come, in place of rules.", valueName: "file")
    )
    var archive: String?

    @Option(
        help: ArgumentHelp(
            "The time to which the captures of the archive are nearest, such as 2026-03-01; the latest ones by default.",
            valueName: "time"
        )
    )
    var asOf: String?

    @Option(
        help: ArgumentHelp(
            "The directory of the authority that signs certificates for https; created if missing. A gateway with an authority is a proxy.",
            valueName: "dir"
        )
    )
    var authority: String?
}

extension RulesOptions {
    func validate() throws {
        guard (rules == nil) != (archive == nil) else {
            throw ValidationError("Give either the rules by --rules, or a web archive by --archive.")
        }
        guard let asOf else { return }
        guard archive != nil else {
            throw ValidationError("--as-of belongs to --archive: a rule of a file has the key `as-of`.")
        }
        guard Timestamp.date(asOf) != nil else {
            throw ValidationError("\(asOf) is not a time: give one such as 2026-03-01 or 2026-03-01T12:00:00Z.")
        }
    }

    /// The document of the rules.
    fileprivate func document() throws -> RulesDocument {
        if let archive { return RulesDocument(of: URL(argument: archive)) }
        return try RulesDocument(rules ?? "")
    }

    /// The rules, and the web archive of the command line by its path.
    fileprivate func file(
        _ document: RulesDocument,
        beside surroundings: RulesFile.Surroundings
    ) throws -> (RulesFile, archives: [String: WebArchive]) {
        guard let archive else { return (try document.rules(beside: surroundings), [:]) }
        let opened = try WebArchive(contentsOf: URL(argument: archive))
        return (RulesFile(of: opened, at: archive, asOf: asOf.flatMap(Timestamp.date)), [archive: opened])
    }
}

extension RulesFile {
    /// One rule for all origins of a web archive.
    fileprivate init(of archive: WebArchive, at path: String, asOf time: Date?) {
        self.init()
        let place = TextPlace(line: 1, column: 1, excerpt: "", mark: 0..<0)
        gateway.start = archive.pages
        rules = [
            RuleSetting(
                // A star in a host would be a pattern of hosts.
                patterns: archive.origins.filter { !$0.contains("*") }.map { "\($0)/**" },
                methods: nil,
                sources: [.archive(PathSetting(path: path, place: place), at: time)],
                place: place
            )
        ]
    }
}
