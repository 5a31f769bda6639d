import ArgumentParser
import Foundation
import WaystationFields
import WaystationRecording
import WaystationStorage

struct CacheImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports a recording into the cache, so that its pages load without a network.",
        discussion: """
            The file is a HAR, as the developer tools of browsers save it, or a WARC, as wget and crawlers write it; \
            either may be compressed with gzip. If the directory is empty or does not exist, the cache is created. \
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
            // The responses before the damage of a WARC are stored.
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
        let url: String
        let reason: String
        let detail: String
    }

    let imported: [Imported]
    let skipped: [Skipped]

    init(_ report: ImportReport) {
        imported = report.imported.map { Imported(url: $0.url, status: $0.status, bytes: $0.bytes) }
        skipped = report.skipped.map { Skipped(url: $0.url, reason: $0.reason.description, detail: $0.detail) }
    }

    var text: String {
        let bytes = imported.reduce(0) { $0 + $1.bytes }
        let lines = skipped.map { "skipped \(SecretNames.standard.url($0.url)): \($0.detail)".printable }
        let summary = "\(Words.responses(imported.count)) imported, \(Words.bytes(bytes)), \(skipped.count) skipped"
        return (lines + [summary]).joined(separator: "\n")
    }
}
