import ArgumentParser
import Foundation
import WaystationPacks
import WaystationPublishing

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
