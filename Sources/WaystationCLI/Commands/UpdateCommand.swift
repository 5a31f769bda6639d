import ArgumentParser
import Foundation
import WaystationPacks

struct UpdateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Brings the packs of a library up to date, as an app does.",
        discussion: """
            Asks one source, follows its offers by the cheapest way, and tells what was done. Interrupted, the next \
            run goes on with what has been downloaded. The exit code is that of the first module that failed; the \
            others are up to date nevertheless.

            Examples:
              waystation update --in packs --app shop --app-version 2.1 --catalogue https://cdn.example/catalogue.json \
            --trust ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
              waystation update --in packs --app shop --app-version 2.1 --modules-url https://shop.example/modules
              waystation update --in packs --app shop --app-version 2.1 --single-url https://shop.example/package \
            --module shop
            """
    )

    @Option(name: .customLong("in"), help: ArgumentHelp("The library; made when missing.", valueName: "dir"))
    var library: String

    @OptionGroup(title: "Source")
    var source: SourceOptions

    @Option(help: ArgumentHelp("The name by which the server knows the app.", valueName: "code"))
    var app: String

    @Option(help: ArgumentHelp("The version of the app.", valueName: "version"))
    var appVersion: PackVersion

    @Option(help: ArgumentHelp("What the app runs on.", valueName: "name"))
    var platform = "linux"

    @Flag(help: "Ask only when the last check was long enough ago: for runs by a timer.")
    var ifDue = false

    @Flag(help: "Download on any network, whatever the publisher asks for.")
    var anyNetwork = false

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        let source = try self.source.source
        var configuration = self.source.configuration
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

/// Fulfils every condition.
private struct AnyNetwork: NetworkProbe {
    func verdict(on condition: NetworkCondition) async -> NetworkVerdict { .fulfilled }
}
