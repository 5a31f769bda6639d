import Foundation
import Measuring
import WaystationTesting

/// One way of using URLSession, together with what the origin answers.
struct Scenario: Sendable {
    /// What a script may need beside the request.
    struct Props: Sendable {
        let gate: ScriptedOrigin.Gate
        let otherPort: UInt16
    }

    typealias Script = @Sendable (ScriptedOrigin.Request, Props) -> ScriptedOrigin.Response

    let name: String
    /// Whether it is also run twice, to compare an answer from the archive with plain's second answer.
    let repeats: Bool
    /// Whether a rule that takes the load gives it back to Foundation's own loader, since its body cannot be seen.
    let isHandedBack: Bool
    /// What Waystation must show where plain URLSession has no end.
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
