import ArgumentParser
import Foundation
import WaystationRecording
import WaystationStorage

struct CacheExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the stored responses to a HAR file.",
        discussion: """
            Bodies are complete. The values of fields such as Authorization and Cookie, and of query items such as \
            token and password, are replaced by [redacted] unless --secrets is given. Without --partition, only the \
            responses in the shared partition are written.

            Example:
              waystation cache export --in caches/http --host shop.example -o shop.har
            """
    )

    @OptionGroup
    var store: StoreOptions

    @OptionGroup
    var filter: ScopeOptions

    @Option(name: [.short, .long], help: ArgumentHelp("The file to write; - is standard output.", valueName: "file"))
    var output: OutputDestination

    @Flag(help: "Also write cookies, credentials and tokens.")
    var secrets = false

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        let inspector = try store.inspector()
        var filter = filter
        filter.partition = filter.partition ?? ""
        let result = try output.write { file in
            let count = try inspector.exportHAR(to: file, scope: filter.scope, redaction: secrets ? .none : .standard)
            return CacheExport(
                exported: count,
                file: output.isStandardOutput ? output.path : file.path(percentEncoded: false)
            )
        }
        try options.write(result, about: output)
    }
}

struct CacheExport: CommandResult {
    let exported: Int
    let file: String

    var text: String { "\(Words.responses(exported)) written to \(file)".printable }
}
