import ArgumentParser
import Foundation

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks whether this machine has what Waystation needs.",
        discussion: """
            The command checks the clock, the directories, the disk, the names and addresses of this machine, and the \
            libraries; it also tests known faults of Foundation's URLSession, with and without Waystation, in \
            processes of their own against a server on loopback, and names the corrections that this toolchain does \
            not allow. The command changes nothing and needs no network.

            Each check is fine, cured (Foundation does it wrong, Waystation does not), not curable, a warning, or failed. \
            The exit code is 1 if a check failed.

            Examples:
              waystation doctor
              waystation doctor --cache /var/lib/kiosk/cache --packs /var/lib/kiosk/packs --port 8080
              waystation doctor --format json
            """
    )

    @Option(help: ArgumentHelp("The directory of a response cache, which need not exist yet.", valueName: "dir"))
    var cache: String?

    @Option(help: ArgumentHelp("The library of packs, which need not exist yet.", valueName: "dir"))
    var packs: String?

    @Option(help: ArgumentHelp("The port at which a gateway is to listen.", valueName: "number"))
    var port: UInt16?

    @Flag(help: "The same as --format json.")
    var json = false

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        var options = options
        if json { options.format = .json }
        var checks = MachineChecks.all() + LibraryChecks.all() + NetworkChecks.all(port: port)
        for (name, path) in [("cache", cache), ("packs", packs)] {
            guard let path else { continue }
            checks += DirectoryChecks.all(name, URL(filePath: path, directoryHint: .isDirectory))
        }
        checks += DirectoryChecks.temporary()
        checks += CureChecks.all()
        checks += await TrapChecks.all()
        let result = DoctorResult(checks)
        try options.write(result)
        if result.failed > 0 { throw ExitCode.refused }
    }
}

/// All findings of the doctor.
struct DoctorResult: CommandResult {
    let checks: [Finding]
    /// The number of checks that failed.
    let failed: Int

    init(_ checks: [Finding]) {
        self.checks = checks
        failed = checks.count { $0.state == .failed }
    }

    var text: String {
        let states: [Finding.State: String] = [.notCurable: "not curable"]
        let rows = checks.map { check in
            let document = check.document.map { " (\($0))" } ?? ""
            return [states[check.state] ?? check.state.rawValue, check.name, check.detail.printable + document]
        }
        let advice = checks.compactMap { check in check.advice.map { "\(check.name): \($0)".printable } }
        let summary =
            switch failed {
            case 0: "nothing must be done"
            case 1: "1 check failed"
            default: "\(failed) checks failed"
            }
        return
            ([Words.table(rows)] + (advice.isEmpty ? [] : ["", "advice:"] + advice.map { "  \($0)" })
            + ["", summary]).joined(separator: "\n")
    }
}

/// The result of one check of the doctor.
struct Finding: Encodable {
    enum State: String, Encodable {
        /// Nothing is to be done.
        case fine
        /// Foundation does something wrong, and loads through Waystation are not affected.
        case cured
        /// Foundation does something wrong that Waystation cannot correct.
        case notCurable
        /// Something works less well than it could.
        case warning
        /// Something must be done.
        case failed
    }

    let name: String
    let state: State
    let detail: String
    /// Advice to the user; nil if there is nothing to do.
    var advice: String?
    /// The place in the documents that describes the matter.
    var document: String?

    static func fine(_ name: String, _ detail: String) -> Finding {
        Finding(name: name, state: .fine, detail: detail)
    }

    static func warning(_ name: String, _ detail: String, _ advice: String) -> Finding {
        Finding(name: name, state: .warning, detail: detail, advice: advice)
    }

    static func failed(_ name: String, _ detail: String, _ advice: String) -> Finding {
        Finding(name: name, state: .failed, detail: detail, advice: advice)
    }
}
