import ArgumentParser

/// The tool `crawler`, whose commands contain no logic of their own.
@main
struct CrawlerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crawler",
        abstract: "Loads a web site, and proves that it loads again without a network.",
        discussion: """
            crawler crawl https://example.org/ --into example
            crawler offline example
            crawler report example

            Exit codes: 0 done · 1 the offline check found missing or differing documents · 2 no start page could be \
            loaded · 64 wrong usage · 74 the directory cannot be read or written · 130 interrupted (the same command \
            continues).
            """,
        version: "1.0.0",
        subcommands: [CrawlCommand.self, OfflineCommand.self, ReportCommand.self, DemoCommand.self]
    )
}

extension ExitCode {
    /// The offline check found missing or differing documents.
    static let notWhole = ExitCode(1)
    /// No start page could be loaded.
    static let nothingLoaded = ExitCode(2)
    /// A directory or database cannot be used (`EX_IOERR`).
    static let inputOutput = ExitCode(74)
    /// Stopped by Ctrl-C.
    static let interrupted = ExitCode(130)
}
