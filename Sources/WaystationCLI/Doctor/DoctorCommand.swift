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
