import ArgumentParser
import WaystationPublishing

struct DisableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Switches a module off: its pages load online.",
        discussion: """
            The packs of the module are kept, on the server and on clients.

            Example:
              waystation disable shop --to /srv/packs --key release.key
            """
    )

    @OptionGroup
    var change: ModuleChangeOptions

    func run() async throws {
        try await change.make { try await $0.disable($1, signedBy: $2) }
    }
}
