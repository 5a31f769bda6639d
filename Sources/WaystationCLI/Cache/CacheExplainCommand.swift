import ArgumentParser
import Waystation
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

struct CacheExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explains what a cache would do with a GET of a URL, and why.",
        discussion: """
            The explanation shows the age of the stored response, its lifetime and the field that names it, and the \
            next step. Nothing is sent, and the store is only read. The rules of an app are not known here: \
            --strategy names the one of the rule that takes the URL, and --ignore-query and --sort-query its cache key.

            Examples:
              waystation cache explain https://shop.example/app/ --in caches/http
              waystation cache explain https://img.example/logo.png --in caches/http --strategy cache-first \
            --maximum-age 7d
            """
    )

    @Argument(help: "The URL.")
    var url: String

    @OptionGroup
    var store: StoreOptions

    @OptionGroup
    var strategy: StrategyOptions

    @Option(
        name: .customLong("field"),
        help: ArgumentHelp("A field of the request, such as \"Accept-Language: de\".", valueName: "field")
    )
    var fields: [RequestField] = []

    @Option(
        name: .customLong("ignore-query"),
        help: ArgumentHelp(
            "An item of the query that the rule's cache key leaves out, such as \"utm_*\"; may be repeated.",
            valueName: "name"
        )
    )
    var ignored: [String] = []

    @Flag(name: .customLong("sort-query"), help: "The rule's cache key has the items of the query sorted.")
    var sortsQuery = false

    @Option(help: ArgumentHelp("The partition of the responses; by default that of the request.", valueName: "name"))
    var partition: String?

    @OptionGroup
    var options: OutputOptions

    func validate() throws {
        _ = try presented()
        _ = try strategy.cacheStrategy()
    }

    private var key: CacheKey {
        let key = ignored.isEmpty ? .url : CacheKey.url.ignoring(ignored)
        return sortsQuery ? key.sortingQuery() : key
    }

    private func presented() throws -> (request: CacheRequest, url: String) {
        guard let canonical = CanonicalURL(url), let address = URL(string: url) else {
            throw ValidationError.notAbsolute(url)
        }
        var request = URLRequest(url: address)
        for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        guard let presented = CacheRequest(request, canonical: canonical, by: key) else {
            throw ValidationError("No response to a request for \(url.printable) is ever stored.")
        }
        return (presented, canonical.string)
    }

    func run() async throws {
        let (presented, url) = try presented()
        let inspector = try store.inspector()
        let scope = ResponseScope.url(presented.key.url, partition: partition ?? presented.key.partition)
        let stored = try inspector.entries(in: scope)
            .filter { $0.key.method == presented.key.method }
            .sorted { $0.responseTime > $1.responseTime }
            .compactMap { try inspector.response($0)?.head }
            // The scope also has the other queries of responses with `No-Vary-Search`.
            .filter { presented.key.isAnswered(by: $0) }
        let strategy = try strategy.cacheStrategy()
        let cache = Interceptor.CacheExplanation(strategy, for: presented, by: key, among: stored, now: Date())
        try options.write(ExplainedRequest(url: url, cache: cache))
    }
}

/// The strategy of the rule that takes a URL.
struct StrategyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "standard, revalidate, cache-first, network-first, stale-while-revalidate or cache-only.",
            valueName: "name"
        )
    )
    var strategy = "standard"

    @Option(help: ArgumentHelp("The limit of cache-first and stale-while-revalidate, such as 7d.", valueName: "age"))
    var maximumAge: AgeArgument?

    @Option(help: ArgumentHelp("The time that network-first gives the network, such as 3s.", valueName: "time"))
    var timeout: AgeArgument?

    func cacheStrategy() throws -> CacheStrategy {
        switch (strategy, maximumAge?.duration) {
        case ("standard", nil): .standard
        case ("revalidate", nil): .revalidate
        case ("network-first", nil): .networkFirst(timeout: timeout?.duration)
        case ("cache-only", nil): .cacheOnly
        case ("cache-first", let limit?): .cacheFirst(for: limit)
        case ("stale-while-revalidate", let limit?): .staleWhileRevalidate(upTo: limit)
        case ("cache-first", nil), ("stale-while-revalidate", nil):
            throw ValidationError("--strategy \(strategy) needs --maximum-age, such as --maximum-age 7d.")
        case ("standard", _), ("revalidate", _), ("network-first", _), ("cache-only", _):
            throw ValidationError("--maximum-age has no effect with --strategy \(strategy).")
        default:
            throw ValidationError(
                "“\(strategy.printable)” is not a strategy: give standard, revalidate, cache-first, network-first, "
                    + "stale-while-revalidate or cache-only."
            )
        }
    }
}

/// A field of a request, written as `Name: value`.
struct RequestField: ExpressibleByArgument {
    let name: String
    let value: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        name = argument[..<colon].trimmingSpace()
        value = argument[argument.index(after: colon)...].trimmingSpace()
        if name.isEmpty { return nil }
    }
}

struct ExplainedRequest: CommandResult {
    let url: String
    let cache: Interceptor.CacheExplanation

    var text: String {
        (["GET \(url.printable)"] + cache.sentences.map { "  \($0.printable)" }).joined(separator: "\n")
    }
}
