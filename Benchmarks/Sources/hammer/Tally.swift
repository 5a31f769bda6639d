import Measuring
import Synchronization

/// Adds up the lines that the members of the crowd print.
final class Tally: Sendable {
    struct Sums: Sendable {
        var steps = 0
        var notes = 0
        var evicted = 0
        var warnings = 0
        var films = Films.Counts()
        var wrong: [String] = []
    }

    private let sums = Mutex(Sums())

    var now: Sums { sums.withLock { $0 } }

    func hear(_ line: String) {
        sums.withLock { sums in
            if line == "done 50" {
                sums.steps += 50
            } else if line.hasPrefix("evicted "), let count = Int(line.dropFirst(8)) {
                sums.evicted += count
            } else if line.hasPrefix("films "), let counts = Films.Counts(line.dropFirst(6)) {
                sums.films.add(counts)
            } else if line.hasPrefix("20") {
                // A warning of a process' log begins with its date, such as that of a load whose stored body another process
                // had removed, and which was loaded again.
                sums.warnings += 1
            } else if line.hasPrefix("note ") {
                sums.notes += 1
                if sums.notes <= 3 { say(line) }
            } else if !["done 50", "note ", "evicted ", "films "].contains(where: { $0.hasPrefix(line) }),
                !line.hasPrefix("films ")
            {
                // A kill may cut a line short; every other line is a complaint.
                sums.wrong.append(line)
            }
        }
    }
}
