import Foundation
import Measuring

/// The ways in which every scenario is run.
enum Variant: String, CaseIterable, Sendable {
    /// URLSession as Foundation makes it: what the others are compared with.
    case plain
    /// Waystation is installed, and no rule names the URL.
    case untouched
    /// A rule forwards the load: `via: .network`.
    case network
    /// A rule forwards the load and stores the answer: `via: .cache(.cacheFirst(for: …))`.
    case stored
    /// The same, with the scenario run twice: what is seen is the second run, answered from the archive.
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
