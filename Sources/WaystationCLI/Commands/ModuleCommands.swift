import ArgumentParser
import WaystationPacks
import WaystationPublishing

/// The options of all commands that change one module.
struct ModuleChangeOptions: ParsableArguments {
    @Argument(help: "The module.")
    var module: ModuleID

    @OptionGroup
    var release: ReleaseOptions

    @OptionGroup
    var options: OutputOptions

    /// Makes the change, and writes its result.
    func make(_ change: (ReleaseDirectory, ModuleID, [SigningKey]) async throws -> ReleaseIndex) async throws {
        let (directory, keys) = (try release.directory(), try release.keys)
        try await directory.requirePublished()
        let index = try await change(directory, module, keys)
        try options.write(ReleaseResult(module, index))
    }
}

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

struct RollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Makes an earlier version live again.",
        discussion: """
            Without --version, a current rollout ends. Without a rollout, the previous live version becomes live \
            again. Clients that have a higher version go back at their next poll.

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
