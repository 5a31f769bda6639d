import ArgumentParser
import Foundation
import WaystationPacks
import WaystationPublishing

struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publishes a pack, with patches from earlier versions.",
        discussion: """
            The pack is checked and copied, patches are made, and the catalogue is signed again; clients follow at \
            their next poll. Publish the same pack again with a higher --rollout to reach more clients, and with \
            --rollout 100 to reach all; without --rollout, its share does not change. A rollout only reaches clients \
            of the catalogue: the two older formats carry no identifier of an installation, so their clients get the \
            live version.

            A new version with fewer than half of the files of the live one is mostly a pack of the wrong folder, so \
            it is refused without --force. A pack without files is always refused.

            Into a bucket of an S3-compatible store, any number of machines may publish at once; clients fetch from \
            it, or from a CDN before it. The store must support conditional writes. The credentials are those of \
            AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, the region that of AWS_REGION, and the \
            store that of AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL; by default it is AWS.

            Examples:
              waystation publish shop-1.4.zip --to /srv/packs --key release.key
              waystation publish shop-1.4.zip --to /srv/packs --key release.key --dry-run
              waystation publish shop-1.5.zip --to /srv/packs --key release.key --rollout 10
              waystation publish shop-1.5.zip --to s3://releases/shop --key release.key --region eu-central-1
            """
    )

    @Argument(help: "The pack, a zip with a manifest.")
    var pack: String

    @OptionGroup
    var release: ReleaseOptions

    @Option(
        help: ArgumentHelp(
            "The share of the clients that get it, 0 to 100; by default all, or as before in a current rollout.",
            valueName: "percent"
        )
    )
    var rollout: Double?

    @Option(
        help: ArgumentHelp(
            "The kind of network on which clients download the packs; see `waystation help network`.",
            valueName: "condition"
        )
    )
    var network: NetworkCondition?

    @Option(help: ArgumentHelp("The number of latest versions to make patches from.", valueName: "count"))
    var deltas = 3

    @Option(
        help: ArgumentHelp(
            "The number of releases to keep; older ones are removed. See `waystation help prune`.",
            valueName: "count"
        )
    )
    var keep: Int?

    @Flag(help: "Publish even with fewer than half of the files of the live version.")
    var force = false

    @Flag(help: "Show what would be published, without writing anything.")
    var dryRun = false

    @OptionGroup(title: "For zips beyond the usual limits")
    var zip: ZipLimitOptions

    @OptionGroup
    var options: OutputOptions

    func validate() throws {
        guard keep ?? 1 >= 1 else { throw ValidationError("--keep takes 1 or more.") }
        guard (0...100).contains(rollout ?? 100) else { throw ValidationError("--rollout takes 0 to 100.") }
        guard (0...100).contains(deltas) else { throw ValidationError("--deltas takes 0 to 100.") }
    }

    func run() async throws {
        let (directory, keys) = (try release.directory(limits: zip.limits), try release.keys)
        let publication = try await directory.publish(
            zip: URL(argument: pack),
            rollout: rollout,
            network: network,
            keepingDeltas: deltas,
            allowingFewerFiles: force,
            dryRun: dryRun,
            signedBy: keys
        )
        var pruning: Pruning?
        if let keep {
            pruning =
                dryRun
                ? try publication.pruning(keeping: keep)
                : try await directory.prune(publication.module, keeping: keep, signedBy: keys)
        }
        try options.write(PublishResult(publication, pruning, isDryRun: dryRun))
    }
}

/// The result of a publication.
struct PublishResult: CommandResult {
    struct Patch: Encodable {
        let kind: String
        let from: PackVersion
        let path: String
        let size: Int
    }

    struct Omitted: Encodable {
        let kind: String
        let from: PackVersion
        let reason: String
    }

    let module: ModuleID
    let version: PackVersion
    let isNew: Bool
    let percentage: Double
    let path: String
    let size: Int
    let patches: [Patch]
    let omitted: [Omitted]
    /// The versions that `--keep` removed.
    let removed: [PackVersion]?
    let state: ReleaseResult
    /// True when nothing was written; nil otherwise.
    let dryRun: Bool?

    init(_ publication: Publication, _ pruning: Pruning?, isDryRun: Bool) {
        let release = publication.release
        module = publication.module
        version = release.version
        isNew = publication.isNew
        percentage = publication.percentage
        path = release.archive.path
        size = release.archive.size
        patches = release.patches.map {
            Patch(kind: $0.kind.rawValue, from: $0.from, path: $0.file.path, size: $0.file.size)
        }
        omitted = publication.omitted.map { Omitted(kind: $0.kind.rawValue, from: $0.from, reason: $0.reason) }
        removed = pruning?.removed.map(\.version)
        state = ReleaseResult(publication.module, pruning?.index ?? publication.index)
        dryRun = isDryRun ? true : nil
    }

    var text: String {
        let lines =
            (dryRun == true ? ["nothing was written; without --dry-run:"] : [])
            + ["\(module) \(version): \(Words.bytes(size))"]
            + patches.map { "  \($0.kind) patch from \($0.from): \(Words.bytes($0.size))" }
            + omitted.map { "  no \($0.kind) patch from \($0.from): \($0.reason)" }
            + (removed ?? []).map { "  removed \($0)" } + [state.text]
        return lines.joined(separator: "\n")
    }
}
