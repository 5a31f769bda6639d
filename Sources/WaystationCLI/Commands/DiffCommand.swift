import ArgumentParser
import Foundation
import WaystationPacks
import WaystationPublishing

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
