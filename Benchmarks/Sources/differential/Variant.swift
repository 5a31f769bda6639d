import Foundation
import Measuring

/// The ways in which each scenario runs.
enum Variant: String, CaseIterable, Sendable {
    /// URLSession as Foundation makes it; the other variants are compared with it.
    case plain
    /// Waystation is installed, but no rule matches the URL.
    case untouched
    /// A rule forwards the load: `via: .network`.
    case network
    /// A rule forwards the load and stores the answer: `via: .cache(.cacheFirst(for: …))`.
    case stored
    /// The same, but the scenario runs twice: the observation is that of the second run, answered from the archive.
    case hit

    func session(archive: URL) throws -> InterceptedSession {
        switch self {
        case .plain: .plain
        case .untouched: try .untouched()
        case .network: try .network()
        case .stored, .hit: try .stored(in: archive)
        }
    }
}
