import ArgumentParser
import Foundation
import WaystationPacks
import WaystationPublishing

struct PackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack",
        abstract: "Builds, compares, checks and installs packs.",
        subcommands: [
            BuildCommand.self, DiffCommand.self, VerifyCommand.self, InspectCommand.self, InstallCommand.self,
        ]
    )
}

struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Describes a zip, a folder or a patch.",
        discussion: """
            Reads only the metadata of the pack or patch; `verify` compares a pack with its digests.

            Example:
              waystation pack inspect packs/shop/1.4/patches/1.3-content.patch
            """
    )

    @Argument(help: "A pack as zip or folder, or a patch.")
    var pack: String

    @OptionGroup(title: "For zips beyond the usual limits")
    var zip: ZipLimitOptions

    @OptionGroup
    var options: OutputOptions

    func run() throws {
        try options.write(InspectionResult(path: pack, PackInspection(URL(argument: pack), limits: zip.limits)))
    }
}

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compares every file of a pack with its manifest.",
        discussion: """
            With exit code 1, the error names the first file that does not match the manifest.

            Example:
              waystation pack verify shop-1.4.zip
            """
    )

    @Argument(help: "The pack: a zip, or a folder with a manifest.")
    var pack: String

    @OptionGroup(title: "For zips beyond the usual limits")
    var zip: ZipLimitOptions

    @OptionGroup
    var options: OutputOptions

    func run() throws {
        try PackContents(URL(argument: pack), limits: zip.limits).verify()
        try options.write(InspectionResult(path: pack, PackInspection(URL(argument: pack), limits: zip.limits)))
    }
}

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Makes a patch from one pack to another.",
        discussion: """
            A content patch is applied to installed files, so its size does not depend on how the zips are compressed. \
            A zip patch is a BSDIFF40 patch between the zips themselves; bspatch can apply it. `publish` makes both by \
            itself.

            Example:
              waystation pack diff shop-1.3.zip shop-1.4.zip --form content -o 1.3-content.patch
            """
    )

    @Argument(help: "The old pack, which clients have.")
    var old: String

    @Argument(help: "The new pack, to which the patch leads.")
    var new: String

    @Option(help: "The kind of bytes that the patch is applied to.")
    var form: PatchOffer.Kind

    @Option(name: .shortAndLong, help: ArgumentHelp("The patch to make; - is standard output.", valueName: "patch"))
    var output: OutputDestination

    @OptionGroup(title: "For zips beyond the usual limits")
    var zip: ZipLimitOptions

    @OptionGroup
    var options: OutputOptions

    func run() throws {
        let result = try output.write { patch in
            try PackDelta.write(
                form,
                from: URL(argument: old),
                to: URL(argument: new),
                into: patch,
                limits: zip.limits
            )
            return InspectionResult(path: output.path, try PackInspection(patch))
        }
        try options.write(result, about: output)
    }
}

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
