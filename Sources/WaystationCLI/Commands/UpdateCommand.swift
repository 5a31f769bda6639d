import ArgumentParser
import Foundation
import WaystationPacks

struct UpdateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Updates the packs of a library, as an app does.",
        discussion: """
            Asks one source, follows its offers by the cheapest way, and prints the outcomes. After an interruption, \
            the next run resumes the downloads. The exit code is that of the first module that failed; the other \
            modules are updated all the same.

            Examples:
              waystation update --in packs --app shop --app-version 2.1 --catalogue https://cdn.example/catalogue.json \
            --trust ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
              waystation update --in packs --app shop --app-version 2.1 --modules-url https://shop.example/modules
              waystation update --in packs --app shop --app-version 2.1 --single-url https://shop.example/package \
            --module shop
            """
    )

    @Option(name: .customLong("in"), help: ArgumentHelp("The library; created if missing.", valueName: "dir"))
    var library: String

    @OptionGroup(title: "Source")
    var source: SourceOptions

    @Option(help: ArgumentHelp("The app's name on the server.", valueName: "code"))
    var app: String

    @Option(help: ArgumentHelp("The version of the app, such as 2.1.", valueName: "version"))
    var appVersion: PackVersion

    @Option(help: ArgumentHelp("The platform that the app runs on.", valueName: "name"))
    var platform = "linux"

    @Flag(help: "Ask only if the last check was long enough ago: for timers.")
    var ifDue = false

    @Flag(help: "Download on any network, regardless of the publisher's condition.")
    var anyNetwork = false

    @OptionGroup(title: "For zips beyond the usual limits")
    var zip: ZipLimitOptions

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        let source = try self.source.source
        var configuration = self.source.configuration
        configuration.zipLimits = zip.limits
        if anyNetwork { configuration.networkProbe = AnyNetwork() }
        let display = ProgressDisplay(isShown: options.format == .text)
        let updater = PackUpdater(
            library: try PackLibrary(directory: URL(argument: library)),
            source: source,
            app: AppIdentity(code: app, version: appVersion, platform: platform),
            configuration: configuration
        )
        let report = try await updater.check(isForced: !ifDue) { display.show($0) }
        display.clear()
        let result = UpdateResult(report)
        try options.write(result)
        if let exitCode = result.exitCode { throw exitCode }
    }
}

/// A probe that fulfils every condition.
private struct AnyNetwork: NetworkProbe {
    func result(of condition: NetworkCondition) async -> NetworkConditionResult { .fulfilled }
}

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
