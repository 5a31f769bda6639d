import Foundation
import WaystationTestSupport

/// A fault of Redis during a part of a run.
struct Fault: Sendable {
    enum Kind: Sendable, CaseIterable {
        /// The process is stopped by a signal: it accepts connections, and answers nothing.
        case stopped
        /// All connections are cut, again and again.
        case dropped
        /// All values are removed.
        case emptied

        var name: String {
            switch self {
            case .stopped: "stopped"
            case .dropped: "connections dropped"
            case .emptied: "emptied"
            }
        }
    }

    let kind: Kind
    /// The begin and the end, in seconds since the begin of the run.
    let seconds: ClosedRange<Double>

    /// The faults of a run: most of it has none, so that the fleet recovers before the next one.
    static func schedule(of seconds: Double) -> [Fault] {
        [
            Fault(kind: .stopped, seconds: 0.30 * seconds...0.40 * seconds),
            Fault(kind: .dropped, seconds: 0.58 * seconds...0.66 * seconds),
            Fault(kind: .emptied, seconds: 0.82 * seconds...0.84 * seconds),
        ]
    }

    /// Causes the fault until its end; blocks meanwhile.
    func cause(in server: RedisServer, since start: Date) {
        Self.wait(until: seconds.lowerBound, since: start)
        let console = RedisConsole(port: server.port)
        switch kind {
        case .stopped: server.pause()
        case .emptied: console.empty()
        case .dropped:
            while Date().timeIntervalSince(start) < seconds.upperBound {
                console.dropConnections()
                Thread.sleep(forTimeInterval: 0.3)
            }
        }
        Self.wait(until: seconds.upperBound, since: start)
        server.resume()
    }

    private static func wait(until second: Double, since start: Date) {
        let rest = second - Date().timeIntervalSince(start)
        if rest > 0 { Thread.sleep(forTimeInterval: rest) }
    }
}
