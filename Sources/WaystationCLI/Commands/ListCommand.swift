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
