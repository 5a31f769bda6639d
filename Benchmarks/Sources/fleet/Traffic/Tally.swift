import Foundation
import Synchronization

/// Adds up the lines that the members print.
final class Tally: Sendable {
    struct Sums: Sendable {
        /// The loads of all processes, by the second of the run.
        var seconds: [Int: Interval] = [:]
        var events: [String: Int] = [:]
        var wrong: [String] = []

        /// The loads of the whole run.
        var total: Interval { seconds.values.reduce(into: Interval()) { $0.add($1) } }
    }

    private let sums = Mutex(Sums())

    var now: Sums { sums.withLock { $0 } }

    func hear(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2)
        sums.withLock { sums in
            switch words.first {
            case "second":
                // A kill may cut a line short.
                guard words.count == 3, let second = Int(words[1]),
                    let interval = try? JSONDecoder().decode(Interval.self, from: Data(words[2].utf8))
                else { return }
                sums.seconds[second, default: Interval()].add(interval)
            case "event": sums.events[words.dropFirst().joined(separator: " "), default: 0] += 1
            case "wrong": sums.wrong.append(line)
            // A line that a kill has cut short, or a warning of the process' log.
            default: break
            }
        }
    }
}
