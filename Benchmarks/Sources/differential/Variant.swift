import Foundation
import Measuring
import WaystationNIO

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
    /// A rule forwards the load, and the engine on SwiftNIO carries it.
    case nio
    /// The same as `stored`, by the engine on SwiftNIO.
    case nioStored = "nio-stored"
    /// The same as `hit`, by the engine on SwiftNIO.
    case nioHit = "nio-hit"

    /// Whether the scenario runs twice, and the second run is observed.
    var isSecondRun: Bool { self == .hit || self == .nioHit }

    /// The variant that differs only in the engine; nil for Foundation's own.
    var byFoundation: Variant? {
        switch self {
        case .nio: .network
        case .nioStored: .stored
        case .nioHit: .hit
        case .plain, .untouched, .network, .stored, .hit: nil
        }
    }

    func session(archive: URL) throws -> InterceptedSession {
        switch self {
        case .plain: .plain
        case .untouched: try .untouched()
        case .network: try .network()
        case .stored, .hit: try .stored(in: archive)
        case .nio: try .network(by: .nio)
        case .nioStored, .nioHit: try .stored(in: archive, by: .nio)
        }
    }
}
