import Waystation
import WaystationHTTP
import WaystationStorage

/// A file with the rules and settings of a gateway, so that a kiosk needs no Swift code.
///
/// The file is in TOML 1.0. Docs/CommandLine.md describes its keys, and this is a whole one:
///
/// ```toml
/// [gateway]
/// port = 8080
///
/// [packs]
/// directory = "packs"
///
/// [cache]
/// directory = "cache"
/// maximum-size = "200MB"
///
/// [[rule]]
/// url = "https://shop.example/app/**"
/// via = ["pack", "cache"]
/// strategy = "network-first"
/// timeout = "3s"
/// ```
///
/// A member that is nil is missing in the file.
struct RulesFile: Sendable {
    var gateway = GatewaySettings()
    /// The directory of the authority whose certificates a proxy shows.
    var authority: PathSetting?
    var cache = CacheSettings()
    /// The directory of the pack library.
    var packs: PathSetting?
    var headerBody: HeaderBody?
    var rules: [RuleSetting] = []

    /// The settings that the command line provides.
    struct Surroundings: OptionSet, Sendable {
        let rawValue: Int
        /// A directory for the cache.
        static let cache = Surroundings(rawValue: 1)
        /// A directory of packs.
        static let packs = Surroundings(rawValue: 2)
        /// The decision whether the gateway is a proxy.
        static let proxy = Surroundings(rawValue: 4)

        init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// All mistakes of a file, in the order of their places.
    struct Problems: Error, Sendable {
        let problems: [RulesFileProblem]

        init(problems: [RulesFileProblem]) { self.problems = problems }
    }
}

/// A mistake in a rules file.
struct RulesFileProblem: Hashable, Sendable {
    let place: TextPlace
    /// A message with the wrong value and the expected form.
    let message: String

    init(_ place: TextPlace, _ message: String) {
        self.place = place
        self.message = message
    }

    /// The problem as compilers write it: the file, line and column with the message, and below it the line with a mark.
    func text(in file: String) -> String {
        let number = "\(place.line)"
        let margin = String(repeating: " ", count: number.count)
        let indent = String(repeating: " ", count: place.mark.lowerBound)
        let mark = String(repeating: "^", count: place.mark.count)
        return """
            \(file):\(place.line):\(place.column): \(message)
              \(number) | \(place.excerpt)
              \(margin) | \(indent)\(mark)
            """
    }
}

/// The options of a gateway that a file may set; see `GatewayOptions`.
struct GatewaySettings: Hashable, Sendable {
    var port: Int?
    /// The pages whose names at the gateway are printed.
    var start: [String] = []
    var isProxy: Bool?
    var hasInspector: Bool?
    var rewritesLinks: Bool?
    var forwardsUnclaimed: Bool?
    var passesForwardedFields: Bool?
    var maximumBody: ByteCount?
    var maximumConnections: Int?
    var requestTimeout: Duration?
    var idleTimeout: Duration?
    var tunnelTimeout: Duration?
    var deliveryTimeout: Duration?

    /// Makes settings of which the file has none.
    init() {}
}

/// The options of a response cache; see `ResponseCache`.
struct CacheSettings: Hashable, Sendable {
    var directory: PathSetting?
    var maximumSize: ByteCount?
    var maximumAge: Duration?
    var maximumEntrySize: ByteCount?
    var memorySize: ByteCount?
    var storesCodedBodies: Bool?
}

/// A path in a rules file; a relative one is relative to the file's folder.
struct PathSetting: Hashable, Sendable {
    let path: String
    let place: TextPlace
}

extension RulesFile {
    /// The pages at which a user begins: those that the file names, otherwise one for each rule that answers pages, in the
    /// order of the rules.
    ///
    /// A rule's page is the base URL of its files, or its pattern up to the first star; a pattern whose host has a star
    /// has no page.
    var startPages: [String] {
        if !gateway.start.isEmpty { return gateway.start }
        var pages: [String] = []
        for rule in rules where rule.sources != nil && rule.methods?.contains("GET") != false {
            for page in rule.bases + rule.patterns.compactMap(Self.page) where !pages.contains(page) {
                pages.append(page)
                if !rule.bases.isEmpty { break }
            }
        }
        return pages
    }

    private static func page(_ pattern: String) -> String? {
        let bare = pattern.prefix { $0 != "?" }
        let fixed = bare.prefix { !"*[{".contains($0) }
        guard let authority = fixed.firstRange(of: "://"), let page = CanonicalURL(String(fixed)) else { return nil }
        guard page.scheme == "http" || page.scheme == "https" else { return nil }
        guard fixed.count < bare.count else { return page.string }
        guard let slash = fixed[authority.upperBound...].lastIndex(of: "/") else { return nil }
        return CanonicalURL(String(fixed[...slash]))?.string
    }
}

extension RuleSetting {
    fileprivate var bases: [String] {
        (sources ?? []).compactMap { source in
            guard case .files(_, let base) = source else { return nil }
            return base.hasSuffix("/") ? base : base + "/"
        }
    }
}
