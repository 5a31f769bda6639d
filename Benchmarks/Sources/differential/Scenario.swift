import Foundation
import Measuring
import WaystationTesting

/// One way of using URLSession, with the origin's answers.
struct Scenario: Sendable {
    /// The objects that a script may need in addition to the request.
    struct Props: Sendable {
        let gate: ScriptedOrigin.Gate
        /// Gates for answers that stop at several points.
        let laterGates: [ScriptedOrigin.Gate]
        let otherPort: UInt16
        /// The port of the server with TLS; only a proxy's script knows it.
        var securePort: UInt16 = 0
    }

    typealias Script = @Sendable (ScriptedOrigin.Request, Props) -> ScriptedOrigin.Response

    let name: String
    /// Whether the scenario is also run twice, to compare an answer from the archive with the second answer of plain
    /// URLSession.
    let repeats: Bool
    /// Whether a matching rule returns the load to Foundation's own loader, since Waystation cannot see the load's
    /// body.
    let isHandedBack: Bool
    /// Whether the answer crashes or stalls Foundation's engine, with Waystation or without; the variants with another
    /// engine must show the facts in `required`.
    let stopsFoundation: Bool
    /// The facts that Waystation must show when plain URLSession does not end.
    let required: [String: String]
    let setting: Setting
    /// Answers requests whose bodies the origin does not read.
    let early: ScriptedOrigin.EarlyScript
    let origin: Script
    let run: @Sendable (Stage) async throws -> Void

    init(
        _ name: String,
        repeats: Bool = false,
        isHandedBack: Bool = false,
        stopsFoundation: Bool = false,
        required: [String: String] = [:],
        setting: Setting = Setting(),
        early: @escaping ScriptedOrigin.EarlyScript = { _ in nil },
        origin: @escaping Script,
        run: @escaping @Sendable (Stage) async throws -> Void
    ) {
        self.name = name
        self.repeats = repeats
        self.isHandedBack = isHandedBack
        self.stopsFoundation = stopsFoundation
        self.required = required
        self.setting = setting
        self.early = early
        self.origin = origin
        self.run = run
    }

    static let all: [Scenario] =
        kinds + methods + redirects + challenges + bodies + codings + fields + heads + failures + control + connections
        + proxies + secure + multiplexed
}
