import ArgumentParser
import WaystationStorage

struct CachePurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Removes responses: all, or those of a URL, a prefix, a host or a partition.",
        discussion: """
            Example:
              waystation cache purge --in caches/http --prefix https://shop.example/app/
            """
    )

    @OptionGroup
    var store: StoreOptions

    @Flag(help: "Remove everything.")
    var all = false

    @OptionGroup
    var filter: ScopeOptions

    @OptionGroup
    var options: OutputOptions

    func validate() throws {
        if all != filter.isEverything {
            throw ValidationError("Give --all, or at least one of --url, --prefix, --host and --partition; not both.")
        }
    }

    func run() async throws {
        let open = try store.store()
        let removed = try await open.remove(filter.scope)
        try await options.write(CacheRemoval(removed: removed, from: open))
    }
}
