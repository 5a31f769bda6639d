import ArgumentParser
import WaystationPacks
import WaystationPublishing

struct EnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Switches a module on again.",
        discussion: """
            Clients that still have the live version use it at once.

            Example:
              waystation enable shop --to /srv/packs --key release.key
            """
    )

    @Argument(help: "The module.")
    var module: ModuleID

    @OptionGroup
    var release: ReleaseOptions

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        let index = try await release.directory.enable(module, signedBy: release.keys)
        try options.write(ReleaseResult(module, index))
    }
}
