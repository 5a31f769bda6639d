import ArgumentParser
import WaystationPublishing

struct EnableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Switches a module on again.",
        discussion: """
            Clients that still have the live version installed use that version again at once.

            Example:
              waystation enable shop --to /srv/packs --key release.key
            """
    )

    @OptionGroup
    var change: ModuleChangeOptions

    func run() async throws {
        try await change.make { try await $0.enable($1, signedBy: $2) }
    }
}
