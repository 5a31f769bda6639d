import ArgumentParser
import Foundation
import WaystationPacks

/// The source of updates.
struct SourceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The http or https URL of a signed catalogue.", valueName: "url"))
    var catalogue: WebAddress?

    @Option(
        help: ArgumentHelp(
            "A trusted public key for the catalogue's signature, as `waystation keys generate` prints it: ed25519:… "
                + "May be repeated.",
            valueName: "key"
        )
    )
    var trust: [TrustedKey] = []

    @Option(
        name: .customLong("modules-url"),
        help: ArgumentHelp("The URL of an update server for many modules.", valueName: "url")
    )
    var modulesURL: WebAddress?

    @Option(
        name: .customLong("single-url"),
        help: ArgumentHelp("The URL of an update server for one pack.", valueName: "url")
    )
    var singleURL: WebAddress?

    @Option(help: ArgumentHelp("The module of the pack, for --single-url.", valueName: "name"))
    var module: ModuleID?

    private var chosen: (any PackSource)? {
        switch (catalogue, modulesURL, singleURL, module) {
        case (let address?, nil, nil, nil) where !trust.isEmpty: CatalogueSource(address.url, trusting: trust)
        case (nil, let address?, nil, nil) where trust.isEmpty: ModuleListSource(address.url)
        case (nil, nil, let address?, let module?) where trust.isEmpty: SinglePackSource(address.url, module: module)
        default: nil
        }
    }

    var source: any PackSource {
        get throws {
            guard let chosen else {
                throw ValidationError(
                    "Give one source and its own options only: --catalogue with --trust, or --modules-url, or "
                        + "--single-url with --module."
                )
            }
            return chosen
        }
    }

    var configuration: PackUpdater.Configuration {
        var configuration = PackUpdater.Configuration()
        configuration.modules = [module].compactMap(\.self)
        return configuration
    }

    func validate() throws { _ = try source }
}
