import ArgumentParser
import WaystationPacks
import WaystationPublishing

struct MinimumCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "minimum",
        abstract: "Sets the lowest version that clients may still use.",
        discussion: """
            A client with a lower version loads online until it has the live one: for versions that must not be shown \
            any more. The minimum cannot be above the live version, and a rollback cannot go below it.

            Examples:
              waystation minimum shop 1.3 --to /srv/packs --key release.key
              waystation minimum shop --none --to /srv/packs --key release.key
            """
    )

    @OptionGroup
    var change: ModuleChangeOptions

    @Argument(help: "The version, such as 1.3.")
    var version: PackVersion?

    @Flag(help: "Remove the minimum: any version may be used.")
    var none = false

    func validate() throws {
        guard (version == nil) == none else { throw ValidationError("Give a version, or --none.") }
    }

    func run() async throws {
        try await change.make { try await $0.setMinimumVersion(version, of: $1, signedBy: $2) }
    }
}
