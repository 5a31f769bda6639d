import ArgumentParser

struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Shows, checks and cleans the response cache of an app.",
        discussion: """
            The app may be running. Listing and showing only read the store: they create nothing, and do not migrate a \
            store of an older format.
            """,
        subcommands: [
            CacheListCommand.self, CacheShowCommand.self, CacheExplainCommand.self, CacheVerifyCommand.self,
            CacheTrimCommand.self, CachePurgeCommand.self, CacheImportCommand.self, CacheExportCommand.self,
        ]
    )
}
