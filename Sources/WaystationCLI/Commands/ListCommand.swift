import ArgumentParser
import Foundation
import WaystationPacks
import WaystationPublishing

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Shows the published releases.",
        discussion: """
            With --format json, the output has the format of releases.json.

            Example:
              waystation list --to /srv/packs
            """
    )

    @OptionGroup
    var place: ReleasePlaceOptions

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        let directory = try place.directory()
        let index = try await directory.index()
        switch options.format {
        case .text: try Console.write(Self.text(of: index, in: directory.name))
        case .json: try Console.write(String(decoding: index.json(), as: UTF8.self))
        }
    }

    private static func text(of index: ReleaseIndex, in place: String) -> String {
        guard let expires = index.expires else { return "nothing is published in \(place)" }
        let releases = index.modules.flatMap { module in
            module.releases.reversed().map { release in
                [
                    module.module.description, release.version.description, state(of: release, in: module),
                    Words.bytes(release.archive.size), "patches: \(release.patches.count)",
                ]
            }
        }
        return Words.table(releases) + "\ncatalogue \(index.serial), valid until \(expires.formatted(.iso8601))"
    }

    private static func state(of release: ReleaseIndex.Release, in module: ReleaseIndex.Module) -> String {
        if module.live == release.version { return module.isActive ? "live" : "switched off" }
        if let rollout = module.rollout, rollout.version == release.version {
            return "\(rollout.percentage.formatted()) %"
        }
        return "-"
    }
}

struct NetworkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network",
        abstract: "Sets the kind of network on which clients download a module's packs.",
        discussion: """
            Until the network fulfils the condition, a client keeps the version that it has. Roll-backs to a version \
            that is still installed, and switching off, need no network and are not delayed.

            unmetered: cables and Wi-Fi. wired, wireless, cellular: only that medium. any: removes the condition. A \
            name that begins with x- is for apps that support it; other clients then download nothing.

            Examples:
              waystation network shop unmetered --to /srv/packs --key release.key
              waystation network shop any --to /srv/packs --key release.key
            """
    )

    @OptionGroup
    var change: ModuleChangeOptions

    @Argument(help: "The condition: any, unmetered, wired, wireless, cellular, or a name that begins with x-.")
    var condition: NetworkCondition

    func run() async throws {
        try await change.make { try await $0.setNetwork(condition, of: $1, signedBy: $2) }
    }
}
