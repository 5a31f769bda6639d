import ArgumentParser

struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Shows, checks and cleans the response cache of an app.",
        discussion: """
            The app may run meanwhile. What is listed or shown is only read; nothing is made, and an older store is not \
            brought up to date by it.
            """,
        subcommands: [
            CacheListCommand.self, CacheShowCommand.self, CacheVerifyCommand.self, CacheTrimCommand.self,
            CachePurgeCommand.self, CacheImportCommand.self, CacheExportCommand.self,
        ]
    )
}
