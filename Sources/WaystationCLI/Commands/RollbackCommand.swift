import ArgumentParser
import WaystationPacks
import WaystationPublishing

struct RollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Makes an earlier version live again.",
        discussion: """
            Without --version, a current rollout ends; if there is none, the previous live version becomes live again. \
            Clients that have a higher version go back at their next poll.

            Example:
              waystation rollback shop --to /srv/packs --key release.key --version 1.3
            """
    )

    @OptionGroup
    var change: ModuleChangeOptions

    @Option(help: ArgumentHelp("The version to go back to, such as 1.3.", valueName: "version"))
    var version: PackVersion?

    func run() async throws {
        try await change.make { try await $0.rollBack($1, to: version, signedBy: $2) }
    }
}
