import ArgumentParser
import Foundation
import WaystationPublishing

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
