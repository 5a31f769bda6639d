package import Waystation

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
package struct RulesFile: Sendable {
    package var gateway = GatewaySettings()
    /// The directory of the authority whose certificates a proxy shows.
    package var authority: PathSetting?
    package var cache = CacheSettings()
    /// The directory of the pack library.
    package var packs: PathSetting?
    package var headerBody: HeaderBody?
    package var rules: [RuleSetting] = []

    /// The settings that the command line provides.
    package struct Surroundings: OptionSet, Sendable {
        package let rawValue: Int
        /// A directory for the cache.
        package static let cache = Surroundings(rawValue: 1)
        /// A directory of packs.
        package static let packs = Surroundings(rawValue: 2)
        /// The decision whether the gateway is a proxy.
        package static let proxy = Surroundings(rawValue: 4)

        package init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// All mistakes of a file, in the order of their places.
    package struct Problems: Error, Sendable {
        package let problems: [RulesFileProblem]

        package init(problems: [RulesFileProblem]) { self.problems = problems }
    }
}
