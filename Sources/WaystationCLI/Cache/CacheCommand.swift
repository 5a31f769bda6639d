import ArgumentParser
import Foundation
import WaystationHTTP
import WaystationRecording
import WaystationStorage

struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Shows, checks and cleans the response cache of an app.",
        discussion: """
            The app may be running. Listing and showing only read the store: they create nothing, and do not migrate a \
            store of an older format.
            """,
        subcommands: [
            CacheListCommand.self, CacheShowCommand.self, CacheExplainCommand.self, CacheVerifyCommand.self,
            CacheTrimCommand.self, CachePurgeCommand.self, CacheImportCommand.self, CacheExportCommand.self,
        ]
    )
}

struct CachePurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Removes responses: all, or those of a URL, a prefix, a host, a tag, a group or a partition.",
        discussion: """
            Responses with a tag or of a group are purged at once, however many there are. With --soft they are not \
            removed, and count as stale: an app serves them only where a stale response may be served, until the \
            server confirms them.

            Examples:
              waystation cache purge --in caches/http --prefix https://shop.example/app/
              waystation cache purge --in caches/http --tag prices --soft
            """
    )

    @OptionGroup
    var store: StoreOptions

    @Flag(help: "Remove everything.")
    var all = false

    @Flag(help: "Let the responses with a tag or of a group count as stale instead of removing them.")
    var soft = false

    @OptionGroup
    var filter: ScopeOptions

    @OptionGroup
    var options: OutputOptions

    func validate() throws {
        if all != filter.isEverything {
            throw ValidationError(
                "Give --all, or at least one of --url, --prefix, --host, --tag, --group and --partition; not both."
            )
        }
        if soft, filter.label == nil { throw ValidationError("--soft needs --tag or --group.") }
    }

    func run() async throws {
        let open = try store.store()
        guard let label = filter.label else {
            let removed = try await open.remove(filter.scope)
            return try await options.write(CacheRemoval(removed: removed, from: open))
        }
        let count = try store.inspector().entries(in: filter.scope).count
        try await open.purge([label], as: soft ? .soft : .hard)
        try await options.write(CacheRemoval(removed: soft ? 0 : count, softlyPurged: soft ? count : nil, from: open))
    }
}

struct CacheExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the stored responses to a HAR, a WARC or a WACZ.",
        discussion: """
            A HAR is shown by the developer tools of browsers; a WACZ is played by ReplayWeb.page and pywb; a WARC is \
            read by the programs of web archives, and compressed if its name ends in .gz. Without --as, the end of \
            the file's name decides, and a file with another name is a HAR.

            Bodies are complete. The values of fields such as Authorization and Cookie, and of query items such as \
            token and password, are replaced by [redacted] unless --secrets is given. Without --partition, only the \
            responses in the shared partition are written.

            Example:
              waystation cache export --in caches/http --host shop.example -o shop.har
              waystation cache export --in caches/http --as wacz -o site.wacz
            """
    )

    @OptionGroup
    var store: StoreOptions

    @OptionGroup
    var filter: ScopeOptions

    @Option(name: [.short, .long], help: ArgumentHelp("The file to write; - is standard output.", valueName: "file"))
    var output: OutputDestination

    @Option(name: .customLong("as"), help: "The format of the file.")
    var format: ExportFormat?

    @Flag(help: "Also write cookies, credentials and tokens.")
    var secrets = false

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        let inspector = try store.inspector()
        var filter = filter
        filter.partition = filter.partition ?? ""
        let format = format?.format ?? RecordingFormat(of: URL(argument: output.path)) ?? .har
        let result = try output.write { file in
            let count = try inspector.export(
                to: file,
                as: format,
                scope: filter.scope,
                redaction: secrets ? .none : .standard
            )
            return CacheExport(
                exported: count,
                file: output.isStandardOutput ? output.path : file.path(percentEncoded: false)
            )
        }
        try options.write(result, about: output)
    }
}

enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
    case har, warc, wacz

    var format: RecordingFormat {
        switch self {
        case .har: .har
        case .warc: .warc
        case .wacz: .wacz
        }
    }
}

struct CacheExport: CommandResult {
    let exported: Int
    let file: String

    var text: String { "\(Words.responses(exported)) written to \(file)".printable }
}

struct CacheTrimCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trim",
        abstract: "Removes responses that are too old, then the least recently used ones.",
        discussion: """
            Examples of sizes are 200MB, 64KiB and 1000; of ages 90s, 15m, 12h and 30d.

            Example:
              waystation cache trim --in caches/http --maximum-size 100MB --maximum-age 30d
            """
    )

    @OptionGroup
    var store: StoreOptions

    @Option(help: ArgumentHelp("The size that the cache may have afterwards, such as 200MB.", valueName: "size"))
    var maximumSize: SizeArgument?

    @Option(
        help: ArgumentHelp("The maximum age of a response since it arrived or was last revalidated.", valueName: "age")
    )
    var maximumAge: AgeArgument?

    @OptionGroup
    var options: OutputOptions

    func validate() throws {
        if maximumSize == nil, maximumAge == nil {
            throw ValidationError("Give --maximum-size or --maximum-age, or both.")
        }
    }

    func run() async throws {
        let open = try store.store()
        var removed = 0
        if let maximumAge {
            removed += try await open.remove(
                olderThan: Date(timeIntervalSinceNow: -Double(maximumAge.duration.components.seconds))
            )
        }
        if let maximumSize { removed += try await open.trim(to: maximumSize.count) }
        try await options.write(CacheRemoval(removed: removed, from: open))
    }
}

struct CacheRemoval: CommandResult {
    let removed: Int
    /// The responses that count as stale from now on; nil if all were removed.
    let softlyPurged: Int?
    let entries: Int
    let bytes: Int

    init(removed: Int, softlyPurged: Int? = nil, from store: ResponseStore) async {
        await store.flush()
        let statistics = await store.statistics()
        self.removed = removed
        self.softlyPurged = softlyPurged
        entries = statistics.entries
        bytes = statistics.bytes
    }

    var text: String {
        let stale = softlyPurged.map { "\(Words.responses($0)) stale, " } ?? ""
        return "\(stale)\(Words.responses(removed)) removed, \(Words.responses(entries)) left, \(Words.bytes(bytes))"
    }
}

struct CacheVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks every response and every body.",
        discussion: """
            Reads the whole store. Exit code 1 means that something is damaged. With --repair, damaged responses are \
            removed, so that the app loads them again, and the exit code is 0.

            Example:
              waystation cache verify --in caches/http --repair
            """
    )

    @OptionGroup
    var store: StoreOptions

    @Flag(help: "Remove damaged responses.")
    var repair = false

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        let found = try store.inspector().verify()
        var dropped: Int?
        if repair, !found.isIntact {
            let open = try store.store()
            dropped = try await open.repair(found)
            await open.flush()
        }
        try options.write(CacheCheck(found, dropped: dropped))
        if !found.isIntact, !repair { throw ExitCode.refused }
    }
}

struct CacheCheck: CommandResult {
    struct Damage: Encodable {
        let id: Int64
        let method: String?
        let url: String?
        let partition: String?
        let problem: String
    }

    let entries: Int
    let bodyFiles: Int
    let unnamedFiles: Int
    let damaged: [Damage]
    let indexProblems: [String]
    let dropped: Int?

    init(_ found: StoreVerification, dropped: Int?) {
        entries = found.entries
        bodyFiles = found.bodyFiles
        unnamedFiles = found.unnamedFiles
        damaged = found.damaged.map {
            Damage(
                id: $0.id,
                method: $0.key?.method,
                url: $0.key?.url,
                partition: $0.key?.partition,
                problem: $0.problem
            )
        }
        indexProblems = found.indexProblems
        self.dropped = dropped
    }

    var text: String {
        var lines = indexProblems.map { "index: \($0)" }
        lines += damaged.map {
            "\($0.method ?? "?") \($0.url.map(SecretNames.standard.url) ?? "row \($0.id)"): \($0.problem)".printable
        }
        lines.append(
            "\(Words.responses(entries)) and \(bodyFiles) body files checked, \(damaged.count) damaged"
                + (dropped.map { ", \($0) dropped" } ?? "")
        )
        return lines.joined(separator: "\n")
    }
}

struct CacheImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports a recording into the cache, so that its pages load without a network.",
        discussion: """
            The file is a HAR, as the developer tools of browsers save it, a WARC, as wget and crawlers write it, or a \
            WACZ; the first two may be compressed with gzip or zstd. Of several captures of a URL the newest one is stored. If the directory is empty or does not exist, the cache is created. \
            Each skipped response is listed on its own line.

            Example:
              waystation cache import session.har --in caches/http --time now
            """
    )

    @Argument(help: "The recording.")
    var file: String

    @OptionGroup
    var store: StoreOptions

    @Option(help: "The time at which a response counts as received: that of the recording, or now.")
    var time = ImportTime.recorded

    @Flag(help: "Let responses with a Vary field answer every request.")
    var ignoreVary = false

    @Flag(help: "Also import responses with no-store.")
    var includeNoStore = false

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        var choices = ImportOptions()
        choices.time = time == .now ? .now : .recorded
        choices.ignoresVary = ignoreVary
        choices.includesNoStore = includeNoStore
        // The recording comes first, so that an invalid one makes no store.
        let recording = try OpenedRecording(at: URL(argument: file), options: choices)
        let open = try store.storeOrNew()
        let report: ImportReport
        do { report = try await recording.stored(in: open) } catch {
            // The responses before the damage are stored.
            await open.flush()
            throw error
        }
        await open.flush()
        try options.write(CacheImport(report))
    }
}

enum ImportTime: String, ExpressibleByArgument, CaseIterable {
    case recorded, now
}

struct CacheImport: CommandResult {
    struct Imported: Encodable {
        let url: String
        let status: Int
        let bytes: Int
    }

    struct Skipped: Encodable {
        let number: Int
        let offset: Int?
        let url: String
        let reason: String
        let detail: String
    }

    struct Warning: Encodable {
        let offset: Int?
        let detail: String
    }

    let imported: [Imported]
    let skipped: [Skipped]
    let warnings: [Warning]

    init(_ report: ImportReport) {
        imported = report.imported.map { Imported(url: $0.url, status: $0.status, bytes: $0.bytes) }
        skipped = report.skipped.map { skipped in
            Skipped(
                number: skipped.place.number,
                offset: skipped.place.offset,
                url: skipped.url,
                reason: skipped.reason.description,
                detail: skipped.detail
            )
        }
        warnings = report.warnings.map { Warning(offset: $0.offset, detail: $0.detail) }
        lines =
            report.warnings.map { "warning: \($0)".printable }
            + report.skipped.map { skipped in
                let url = skipped.url.isEmpty ? "" : " \(SecretNames.standard.url(skipped.url))"
                return "skipped\(url) (\(skipped.place)): \(skipped.detail)".printable
            }
    }

    /// A line for each warning and each skipped response.
    private let lines: [String]

    private enum CodingKeys: String, CodingKey {
        case imported, skipped, warnings
    }

    var text: String {
        let bytes = imported.reduce(0) { $0 + $1.bytes }
        let summary = "\(Words.responses(imported.count)) imported, \(Words.bytes(bytes)), \(skipped.count) skipped"
        return (lines + [summary]).joined(separator: "\n")
    }
}
