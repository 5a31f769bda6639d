import Foundation
import Measuring
import WaystationTesting

/// One way of using URLSession, with the origin's answers.
struct Scenario: Sendable {
    /// The objects that a script may need in addition to the request.
    struct Props: Sendable {
        let gate: ScriptedOrigin.Gate
        let otherPort: UInt16
    }

    typealias Script = @Sendable (ScriptedOrigin.Request, Props) -> ScriptedOrigin.Response

    let name: String
    /// Whether the scenario is also run twice, to compare an answer from the archive with the second answer of plain
    /// URLSession.
    let repeats: Bool
    /// Whether a matching rule returns the load to Foundation's own loader, since Waystation cannot see the load's
    /// body.
    let isHandedBack: Bool
    /// The facts that Waystation must show when plain URLSession does not end.
    let required: [String: String]
    let origin: Script
    let run: @Sendable (Stage) async throws -> Void

    init(
        _ name: String,
        repeats: Bool = false,
        isHandedBack: Bool = false,
        required: [String: String] = [:],
        origin: @escaping Script,
        run: @escaping @Sendable (Stage) async throws -> Void
    ) {
        self.name = name
        self.repeats = repeats
        self.isHandedBack = isHandedBack
        self.required = required
        self.origin = origin
        self.run = run
    }

    static let all: [Scenario] =
        kinds + methods + redirects + challenges + bodies + fields + failures + control
}
