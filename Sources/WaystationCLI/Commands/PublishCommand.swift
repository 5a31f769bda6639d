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

struct PruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Removes old releases.",
        discussion: """
            The latest releases of each module are kept, and all that are still needed: the live version, one that is \
            being rolled out, those from which patches lead to these two, the one that a rollback leads to, and all \
            that are higher than the live one.

            Example:
              waystation prune --keep 5 --to /srv/packs --key release.key
            """
    )

    @Argument(help: "The module; all modules if omitted.")
    var module: ModuleID?

    @Option(help: ArgumentHelp("The minimum number of latest releases to keep.", valueName: "count"))
    var keep: Int

    @OptionGroup
    var release: ReleaseOptions

    @OptionGroup
    var options: OutputOptions

    func validate() throws {
        guard keep >= 1 else { throw ValidationError("--keep takes 1 or more.") }
    }

    func run() async throws {
        let (directory, keys) = (try release.directory(), try release.keys)
        try await directory.requirePublished()
        try options.write(PruneResult(try await directory.prune(module, keeping: keep, signedBy: keys)))
    }
}

/// The result of removing old releases.
struct PruneResult: CommandResult {
    struct Release: Encodable {
        let module: ModuleID
        let version: PackVersion
    }

    let removed: [Release]
    let serial: UInt64

    init(_ pruning: Pruning) {
        removed = pruning.removed.map { Release(module: $0.module, version: $0.version) }
        serial = pruning.index.serial
    }

    var text: String {
        let lines = removed.map { "removed \($0.module) \($0.version)" }
        return (lines.isEmpty ? ["nothing to remove"] : lines).joined(separator: "\n") + " (catalogue \(serial))"
    }
}

struct RenewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Signs the catalogue again, without other changes.",
        discussion: """
            Clients accept a catalogue for a number of days (--validity). If nothing is published for longer, renew \
            the catalogue before it expires, for example by a timer with --if-due. Rollouts, switches and minimums do not change.

            Examples:
              waystation renew --to /srv/packs --key release.key
              waystation renew --to /srv/packs --key release.key --if-due
            """
    )

    @OptionGroup
    var release: ReleaseOptions

    @Flag(help: "Sign only if less than half of --validity is left, or other keys signed the catalogue: for timers.")
    var ifDue = false

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        let (directory, keys) = (try release.directory(), try release.keys)
        try await directory.requirePublished()
        var isRenewed = true
        if ifDue {
            isRenewed = try await directory.renew(signedBy: keys)
        } else {
            try await directory.resign(signedBy: keys)
        }
        try options.write(RenewResult(isRenewed, try await directory.index()))
    }
}

/// The result of renewing the catalogue: its expiry, and whether it was signed again.
struct RenewResult: CommandResult {
    let renewed: Bool
    let serial: UInt64
    let expires: Date?

    init(_ isRenewed: Bool, _ index: ReleaseIndex) {
        renewed = isRenewed
        serial = index.serial
        expires = index.expires
    }

    var text: String {
        let end = expires?.formatted(.iso8601) ?? "now"
        return renewed
            ? "catalogue \(serial) was signed, valid until \(end)"
            : "nothing to renew: catalogue \(serial) is valid until \(end)"
    }
}
