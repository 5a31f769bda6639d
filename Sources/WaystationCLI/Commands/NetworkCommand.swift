import ArgumentParser
import WaystationPacks
import WaystationPublishing

struct NetworkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network",
        abstract: "Sets on which network clients download a module's packs.",
        discussion: """
            Until the network fulfils the condition, a client stays with the version that it has. Roll-backs to a version \
            that is still installed and switching off need no network and are not held up.

            unmetered: cables and Wi-Fi. wired, wireless, cellular: that medium alone. any: takes the condition away. \
            A name that begins with x- is for apps that know it; other clients download nothing then.

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
