import Foundation
import Measuring

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

/// Runs a scenario in this process, twice when `times` is 2, and prints the observation of the last run.
func runChild(_ scenario: Scenario, variant: Variant, times: Int) async throws {
    let directory = FileManager.default.temporaryDirectory
    let intercepted = try variant.session(archive: directory.appendingPathComponent("archive"))
    var stage = try Stage(scenario, intercepted: intercepted, directory: directory)
    var outcome = try await play(scenario, on: stage)
    for _ in 1..<times {
        stage = Stage(after: stage)
        outcome = try await play(scenario, on: stage)
    }
    say(String(decoding: try JSONEncoder().encode(Report(outcome)), as: UTF8.self))
}

private func play(_ scenario: Scenario, on stage: Stage) async throws -> Outcome {
    do {
        try await scenario.run(stage)
    } catch {
        stage.sightings.call("thrown \(Sightings.describe(error))")
        stage.sightings.end()
    }
    return try await stage.observation()
}
