import ArgumentParser
import WaystationPacks
import WaystationPublishing

struct NetworkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network",
        abstract: "Sets the kind of network on which clients download a module's packs.",
        discussion: """
            Until the network fulfils the condition, a client keeps the version that it has. Roll-backs to a version \
            that is still installed, and switching off, need no network and are not delayed.

            unmetered: cables and Wi-Fi. wired, wireless, cellular: only that medium. any: removes the condition. A \
            name that begins with x- is for apps that support it; other clients then download nothing.

            Examples:
              waystation network shop unmetered --to /srv/packs --key release.key
              waystation network shop any --to /srv/packs --key release.key
            """
    )

    @OptionGroup
    var change: ModuleChangeOptions

    @Argument(help: "The condition: any, unmetered, wired, wireless, cellular, or a name that begins with x-.")
    var condition: NetworkCondition

    func run() async throws {
        try await change.make { try await $0.setNetwork(condition, of: $1, signedBy: $2) }
    }
}
