import ArgumentParser
import Foundation
import WaystationPacks

/// The properties of a pack, for folders and zips without a manifest.
struct OptionalDescription: ParsableArguments {
    @Option(help: ArgumentHelp(ModuleID.help, valueName: "name"))
    var module: ModuleID?

    @Option(help: ArgumentHelp("The version of the pack, such as 1.4.2.", valueName: "version"))
    var packVersion: PackVersion?

    @Option(
        help: ArgumentHelp(
            "An http or https URL at which the pack's root is served. May be repeated.",
            valueName: "url"
        )
    )
    var baseURL: [WebAddress] = []

    var description: PackDescription? {
        guard let module, let packVersion else { return nil }
        return PackDescription(module: module, version: packVersion, baseURLs: baseURL.map(\.url.absoluteString))
    }

    func validate() throws {
        let given = [module != nil, packVersion != nil, !baseURL.isEmpty]
        guard given.allSatisfy(\.self) || !given.contains(true) else {
            throw ValidationError("Give --module, --pack-version and --base-url together, or none of them.")
        }
    }
}
