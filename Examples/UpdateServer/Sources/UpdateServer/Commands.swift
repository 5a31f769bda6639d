import ArgumentParser

/// The program: it serves, unless told otherwise.
@main
struct Commands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update-server",
        abstract: "A release platform for offline packs.",
        subcommands: [UpdateServerCommand.self, DemoCommand.self],
        defaultSubcommand: UpdateServerCommand.self
    )
}
