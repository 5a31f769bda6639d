import ArgumentParser
import Foundation
import WaystationPacks
import WaystationPublishing

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
