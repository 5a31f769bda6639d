import ArgumentParser
import Foundation
import Waystation
import WaystationProcesses

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Tries out each trap in processes of its own, because some of them end the process.
enum TrapChecks {
    /// The longest time that a process with plain loads may take, in seconds; some faults are loads that never end.
    private static let limit = 60.0
    /// The longest time for loads with Waystation, which always end; a busy machine is slow.
    private static let limitWithWaystation = 600.0

    /// The result of a load of one kind.
    enum Outcome: Equatable, Sendable {
        case right
        case wrong(String)
        /// The process could not be started, so nothing is known.
        case unknown(String)
    }

    /// The number of traps that are tried out at a time, so that a small machine has the memory for their processes.
    private static let width = 8

    static func all() async -> [Finding] {
        await withTaskGroup(of: (Int, Finding).self) { group in
            var findings: [(Int, Finding)] = []
            for (index, trap) in Trap.allCases.enumerated() {
                if index >= width, let finding = await group.next() { findings.append(finding) }
                group.addTask { (index, await finding(trap)) }
            }
            for await finding in group { findings.append(finding) }
            return findings.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Tries out a trap, with Waystation only if plain loads have the fault and it can be cured.
    private static func finding(_ trap: Trap) async -> Finding {
        let plain = await outcome(of: trap, .plain)
        let cured = trap.isCurable && plain != .right ? await outcome(of: trap, .waystation) : nil
        return finding(trap, plain: plain, cured: cured)
    }

    /// Judges a trap by its loads without and with Waystation.
    static func finding(_ trap: Trap, plain: Outcome, cured: Outcome?) -> Finding {
        var finding: Finding
        switch (plain, cured) {
        case (.right, _): finding = .fine(trap.title, "this toolchain does not have the fault")
        case (.unknown(let reason), _), (_, .unknown(let reason)):
            finding = .failed(
                trap.title,
                "cannot be tried: \(reason)",
                "correct what the message names, and run the doctor again"
            )
        case (.wrong(let fault), nil):
            finding = Finding(name: trap.title, state: .notCurable, detail: fault, advice: trap.advice)
        case (.wrong(let fault), .right):
            finding = Finding(name: trap.title, state: .cured, detail: fault, advice: trap.advice)
        case (.wrong, .wrong(let fault)):
            finding = .failed(
                trap.title,
                "with Waystation: \(fault)",
                "report this failure with the output of `waystation doctor --json` and `swift --version`"
            )
        }
        finding.document = trap.document
        return finding
    }

    private static func outcome(of trap: Trap, _ way: Trap.Way) async -> Outcome {
        // The origins are on loopback, where no proxy may come between.
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.lowercased().hasSuffix("_proxy") }
        // A crash is a result here; its report would take seconds.
        environment["SWIFT_BACKTRACE"] = "enable=no"
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path(percentEncoded: false)
        return await withCheckedContinuation { continuation in
            // The thread waits for the process, so it must not be one of the pool's.
            Thread.detachNewThread { [environment] in
                continuation.resume(returning: outcome(of: program, trap, way, environment))
            }
        }
    }

    private static func outcome(
        of program: String,
        _ trap: Trap,
        _ way: Trap.Way,
        _ environment: [String: String]
    ) -> Outcome {
        do {
            let ended = try SpawnedProcess.run(
                program,
                [TrapCommand.name, trap.rawValue, "--way", way.rawValue],
                environment: environment,
                limit: way == .plain ? limit : limitWithWaystation
            )
            return switch ended.ending {
            case .exited(0): .right
            case .exited(TrapCommand.wrong):
                .wrong(String(decoding: ended.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
            case .exited(let status):
                .unknown("status \(status), \(String(decoding: ended.errors.prefix(500), as: UTF8.self))")
            case .killed: .wrong("the process crashes")
            case .timedOut: .wrong("the load does not end")
            case .unknown: .unknown("the system does not report how its process ended")
            }
        } catch { return .unknown("\(error)") }
    }
}

/// Reports the cures that reach into Foundation: whether this toolchain needs them, and whether it is one that they know.
enum CureChecks {
    static func all() -> [Finding] { FoundationCure.all.map(finding) }

    static func finding(_ cure: FoundationCure) -> Finding {
        let name = "cure of \(cure.trap): \(cure.effect)"
        var finding =
            switch cure.state {
            case .applied: Finding.fine(name, "applied: Foundation has the layout that the cure knows")
            case .notNeeded: Finding.fine(name, "not needed: this toolchain does not have the fault")
            case .unknownLayout(let missing):
                Finding.warning(
                    name,
                    "not applied: this toolchain has no \(missing)",
                    "install a version of Waystation for this toolchain: until then, \(cure.loss)"
                )
            }
        finding.document = "Docs/FoundationTraps.md, Cures that reach into Foundation"
        return finding
    }
}

/// Tries out one trap in this process, which may crash; for the doctor alone.
struct TrapCommand: AsyncParsableCommand {
    static let name = "doctor-trap"
    /// The exit code for a load that went wrong; the reason is on standard output.
    static let wrong: Int32 = 9

    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument
    var trap: Trap

    @Option
    var way: Trap.Way

    func run() async throws {
        // A crash leaves no file behind.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        guard let fault = try await TrapLoads(way).fault(of: trap) else { return }
        try Console.write(fault)
        throw ExitCode(Self.wrong)
    }
}

/// A folder for one load, which is removed with its last reference.
final class TemporaryFolder: Sendable {
    let url: URL

    init(_ files: [String: String] = [:]) throws {
        url = FileManager.default.temporaryDirectory.appending(path: "waystation-doctor-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: url.appending(path: name)) }
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
