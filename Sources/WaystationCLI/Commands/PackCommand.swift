import ArgumentParser

struct PackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack",
        abstract: "Builds, compares, checks and installs packs.",
        subcommands: [
            BuildCommand.self, DiffCommand.self, VerifyCommand.self, InspectCommand.self, InstallCommand.self,
        ]
    )
}
