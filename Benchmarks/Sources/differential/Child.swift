import Foundation
@_spi(Processes) import Measuring
import WaystationTestSupport

/// The output of a child process: one run of one scenario in one variant.
struct Report: Codable {
    let ended: Bool
    let observation: Observation

    var outcome: Outcome { ended ? .observed(observation) : .hung(observation) }

    init(_ outcome: Outcome) {
        if case .observed = outcome { ended = true } else { ended = false }
        observation = outcome.observation ?? Observation()
    }
}

/// Starts child processes.
struct Children: Sendable {
    private let scratch: ScratchDirectory
    private let certificates: Certificates

    init() throws {
        scratch = try ScratchDirectory()
        certificates = try Certificates()
        try Data(Setting.names.utf8).write(to: names)
    }

    private var names: URL { scratch.url.appendingPathComponent("hosts") }

    /// Runs a scenario in a process.
    ///
    /// Its limit is longer than a run waits for progress, so that only a process that cannot even watch itself reaches it.
    ///
    /// `patience` is how long a load may make no progress before it counts as one that hangs, in seconds.
    func outcome(of scenario: Scenario, _ variant: Variant, times: Int, patience: Int) throws -> Outcome {
        var replaced: [String: String] = [:]
        if scenario.setting.certificate != nil {
            replaced[ReplacedFiles.trustedAuthorities] = certificates.path("ca.pem")
        }
        if scenario.setting.hasNameWithTwoAddresses { replaced["/etc/hosts"] = names.path }
        let home = try ScratchDirectory()
        let child = try ChildProcess.run(
            ["--child", scenario.name, variant.rawValue, "\(times)", "\(patience)", certificates.folder.path],
            home: home.url,
            replacing: replaced,
            limit: 120
        )
        switch child.ending {
        case .timedOut, .unknown: return .hung(Observation(["process": "stuck"]))
        case .killed(let signal): return .crashed("signal \(signal): \(child.complaint)")
        case .exited(let status):
            guard status == 0, let report = try? JSONDecoder().decode(Report.self, from: child.output) else {
                return .crashed("exit status \(status): \(child.complaint)")
            }
            return report.outcome
        }
    }
}

/// Runs a scenario in this process, twice when `times` is 2, and prints the observation of the last run.
func runChild(
    _ scenario: Scenario,
    variant: Variant,
    times: Int,
    patience: Int,
    certificates: URL?
) async throws {
    let directory = FileManager.default.temporaryDirectory
    let servers = try Servers(scenario, certificates: certificates)
    // Before anything loads, so that no other thread reads the environment at this time.
    for (name, value) in servers.environment { setenv(name, value, 1) }
    let intercepted = try variant.session(archive: directory.appendingPathComponent("archive"))
    var stage = Stage(servers, intercepted: intercepted, patience: Double(patience), directory: directory)
    var observation = try await play(scenario, on: stage)
    for _ in 1..<times {
        stage = Stage(after: stage)
        observation = try await play(scenario, on: stage)
    }
    report(.observed(observation))
}

private func report(_ outcome: Outcome) {
    say((try? JSONEncoder().encode(Report(outcome))).map { String(decoding: $0, as: UTF8.self) } ?? "")
}

/// Runs a scenario; a load that hangs ends the process.
private func play(_ scenario: Scenario, on stage: Stage) async throws -> Observation {
    stage.watch {
        report(.hung($0))
        exit(0)
    }
    do {
        try await scenario.run(stage)
    } catch {
        stage.sightings.call("thrown \(Sightings.describe(error))")
        stage.sightings.end()
    }
    return try await stage.observation()
}
