import ArgumentParser

/// The program; it runs the server unless another command is given.
@main
struct Commands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update-server",
        abstract: "A release platform for offline packs.",
        subcommands: [UpdateServerCommand.self, DemoCommand.self],
        defaultSubcommand: UpdateServerCommand.self
    )
}
