import ArgumentParser
import WaystationPacks
import WaystationPublishing

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
