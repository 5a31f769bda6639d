import ArgumentParser
import Foundation
import WaystationPacks

/// The result of an update.
struct UpdateResult: CommandResult {
    struct Problem: Encodable {
        let code: String
        let message: String

        init(_ error: PackError) {
            code = error.code.description
            message = error.message
        }
    }

    struct Outcome: Encodable {
        let module: ModuleID
        let from: PackVersion?
        let to: PackVersion?
        let outcome: String
        var way: String?
        var fetched: Int?
        var whole: Int?
        var reason: String?
        var error: Problem?

        init(_ outcome: ModuleOutcome) {
            module = outcome.module
            from = outcome.from
            to = outcome.to
            switch outcome.kind {
            case .upToDate: self.outcome = "upToDate"
            case .updated(let way, let fetched, let whole):
                self.outcome = "updated"
                self.way = way.rawValue
                self.fetched = fetched
                self.whole = whole
            case .activated: self.outcome = "activated"
            case .enabled: self.outcome = "enabled"
            case .disabled: self.outcome = "disabled"
            case .postponed(let reason):
                self.outcome = "postponed"
                self.reason = "\(reason)"
            case .failed(let error):
                self.outcome = "failed"
                self.error = Problem(error)
            }
        }
    }

    let outcomes: [Outcome]
    let problems: [Problem]
    let throttledUntil: Date?
    let text: String
    /// The exit code of the first failure; nil when there is none.
    let exitCode: ExitCode?

    init(_ report: UpdateReport) {
        outcomes = report.outcomes.map(Outcome.init)
        problems = report.problems.map(Problem.init)
        throttledUntil = report.throttledUntil
        text = report.description.isEmpty ? "the source offers nothing" : report.description
        let failures = report.outcomes.compactMap { outcome -> PackError? in
            if case .failed(let error) = outcome.kind { error } else { nil }
        }
        exitCode = (failures + report.problems).first?.code.exitCode
    }

    private enum CodingKeys: CodingKey { case outcomes, problems, throttledUntil }
}
