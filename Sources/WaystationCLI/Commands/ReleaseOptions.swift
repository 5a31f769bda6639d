import ArgumentParser
import Foundation
import WaystationArchive
import WaystationPacks
import WaystationPublishing

/// The release directory and the signing keys.
struct ReleaseOptions: ParsableArguments {
    @OptionGroup
    var place: ReleasePlaceOptions

    @Option(
        help: ArgumentHelp(
            "A file with the private key that signs the catalogue. Repeat it to sign with several keys.",
            valueName: "file"
        )
    )
    var key: [String]

    @Option(help: ArgumentHelp("The number of days for which clients accept the catalogue.", valueName: "days"))
    var validity = 7

    func directory(limits: ZipLimits = ZipLimits()) throws -> ReleaseDirectory {
        try place.directory(.init(validity: .seconds(validity * 86_400), zipLimits: limits))
    }

    var keys: [SigningKey] {
        get throws { try key.map { try KeyFile.read(URL(argument: $0)) } }
    }

    func validate() throws {
        guard !key.isEmpty else {
            throw ValidationError("Missing expected argument '--key <file>'; `waystation keys generate` makes one.")
        }
        guard (1...3650).contains(validity) else { throw ValidationError("--validity takes 1 to 3650 days.") }
    }
}

extension ReleaseDirectory {
    /// Refuses a directory in which nothing is published: its path may be mistyped, and a change would create it.
    func requirePublished() async throws {
        guard try await index().serial > 0 else {
            throw PackError(.notInstalled, "nothing is published in \(name): check the path")
        }
    }
}

/// The state of a module after a change.
struct ReleaseResult: CommandResult {
    let module: ModuleID
    let isActive: Bool
    let live: PackVersion?
    let rollout: Rollout?
    let minimumVersion: PackVersion?
    let network: NetworkCondition?
    let serial: UInt64

    init(_ module: ModuleID, _ index: ReleaseIndex) {
        let known = index[module]
        self.module = module
        isActive = known?.isActive ?? false
        live = known?.live
        rollout = known?.rollout
        minimumVersion = known?.minimumVersion
        network = known?.network
        serial = index.serial
    }

    var text: String {
        let version = live.map { "\(module) \($0) is live" } ?? "no version of \(module) is live"
        let share = rollout.map { ", \($0.version) for \($0.percentage.formatted()) % of the clients" } ?? ""
        let minimum = minimumVersion.map { ", \($0) is the lowest that may be used" } ?? ""
        let condition = network.map { ", downloaded on a network that is \($0)" } ?? ""
        return version + share + minimum + condition + (isActive ? "" : ", and the module is switched off")
            + " (catalogue \(serial))"
    }
}
