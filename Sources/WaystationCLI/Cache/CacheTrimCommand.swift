import ArgumentParser
import Foundation
import WaystationStorage

struct CacheTrimCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trim",
        abstract: "Removes responses that are too old, then the least recently used ones.",
        discussion: """
            Examples of sizes are 200MB, 64KiB and 1000; of ages 90s, 15m, 12h and 30d.

            Example:
              waystation cache trim --in caches/http --maximum-size 100MB --maximum-age 30d
            """
    )

    @OptionGroup
    var store: StoreOptions

    @Option(help: ArgumentHelp("The size that the cache may have afterwards, such as 200MB.", valueName: "size"))
    var maximumSize: SizeArgument?

    @Option(
        help: ArgumentHelp("The maximum age of a response since it arrived or was last revalidated.", valueName: "age")
    )
    var maximumAge: AgeArgument?

    @OptionGroup
    var options: OutputOptions

    func validate() throws {
        if maximumSize == nil, maximumAge == nil {
            throw ValidationError("Give --maximum-size or --maximum-age, or both.")
        }
    }

    func run() async throws {
        let open = try store.store()
        var removed = 0
        if let maximumAge {
            removed += try await open.remove(
                olderThan: Date(timeIntervalSinceNow: -Double(maximumAge.duration.components.seconds))
            )
        }
        if let maximumSize { removed += try await open.trim(to: maximumSize.count) }
        try await options.write(CacheRemoval(removed: removed, from: open))
    }
}

struct CacheRemoval: CommandResult {
    let removed: Int
    let entries: Int
    let bytes: Int

    init(removed: Int, from store: ResponseStore) async {
        await store.flush()
        let statistics = await store.statistics()
        self.removed = removed
        entries = statistics.entries
        bytes = statistics.bytes
    }

    var text: String { "\(Words.responses(removed)) removed, \(Words.responses(entries)) left, \(Words.bytes(bytes))" }
}
