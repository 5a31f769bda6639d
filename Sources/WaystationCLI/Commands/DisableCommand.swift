import ArgumentParser
import WaystationPacks
import WaystationPublishing

struct DisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Switches a module off: its pages load online.",
        discussion: """
            Its packs stay where they are, on the server and on clients.

            Example:
              waystation disable shop --to /srv/packs --key release.key
            """
    )

    @Argument(help: "The module.")
    var module: ModuleID

    @OptionGroup
    var release: ReleaseOptions

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        let index = try await release.directory.disable(module, signedBy: release.keys)
        try options.write(ReleaseResult(module, index))
    }
}
