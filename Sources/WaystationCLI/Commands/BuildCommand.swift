import ArgumentParser
import Foundation
import WaystationPacks
import WaystationPublishing

struct BuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "build",
        abstract: "Makes a pack from a folder of web files.",
        discussion: """
            The same folder and options always give the same bytes. Existing files are never overwritten. The command \
            fails if the folder does not exist or holds no files.

            Example:
              waystation pack build site --module shop --pack-version 1.4 --base-url https://shop.example/app/ \
            --media-type feed=application/atom+xml -o shop-1.4.zip
            """
    )

    @Argument(help: "The folder.")
    var folder: String

    @Option(help: ArgumentHelp(ModuleID.help, valueName: "name"))
    var module: ModuleID

    @Option(help: ArgumentHelp("The version of the pack, such as 1.4.2.", valueName: "version"))
    var packVersion: PackVersion

    @Option(
        help: ArgumentHelp(
            "An http or https URL at which the folder is served. Needed at least once.",
            valueName: "url"
        )
    )
    var baseURL: [WebAddress]

    @Option(help: ArgumentHelp("The release date, such as 2026-03-01T12:00:00Z.", valueName: "time"))
    var released: Moment?

    @Option(help: ArgumentHelp("The lowest version of the app that can use the pack.", valueName: "version"))
    var minimumAppVersion: PackVersion?

    @Option(
        help: ArgumentHelp("The lowest version of the module to be used from now on.", valueName: "version")
    )
    var minimumPackVersion: PackVersion?

    @Option(help: ArgumentHelp("The media type of a file whose name does not show it.", valueName: "path=type"))
    var mediaType: [MediaTypeOverride] = []

    @Option(name: .shortAndLong, help: ArgumentHelp("The zip to make; - is standard output.", valueName: "zip"))
    var output: OutputDestination

    @OptionGroup
    var options: OutputOptions

    func validate() throws {
        guard !baseURL.isEmpty else { throw ValidationError("Missing expected argument '--base-url <url>'.") }
    }

    func run() throws {
        let description = PackDescription(
            module: module,
            version: packVersion,
            baseURLs: baseURL.map(\.url.absoluteString),
            released: released?.date,
            minimumAppVersion: minimumAppVersion,
            minimumPackVersion: minimumPackVersion,
            mediaTypes: Dictionary(mediaType.map { ($0.path, $0.type) }) { _, last in last }
        )
        let result = try output.write { zip in
            try PackBuilder.build(folder: URL(argument: folder), as: description, to: zip)
            return InspectionResult(path: output.path, try PackInspection(zip))
        }
        try options.write(result, about: output)
    }
}
