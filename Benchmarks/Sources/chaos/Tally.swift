import Measuring
import Synchronization

/// Adds up the lines that the members of the crowd print.
final class Tally: Sendable {
    struct Sums: Sendable {
        var counts = Results.Counts()
        /// The sizes of the process that is never killed.
        var sizes = Sizes()
        var wrong: [String] = []
    }

    private let sums = Mutex(Sums())

    var now: Sums { sums.withLock { $0 } }

    func hear(_ line: String) {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Double($0) }
        sums.withLock { sums in
            switch (words.first, numbers.count) {
            case ("loads", 4):
                sums.counts.hits += Int(numbers[0])
                sums.counts.fetched += Int(numbers[1])
                sums.counts.failed += Int(numbers[2])
                sums.counts.cancelled += Int(numbers[3])
            case ("witness", 2): sums.sizes.add(memory: numbers[0], descriptors: numbers[1])
            // A kill may cut a line short.
            case _ where ["loads ", "witness "].contains { line.hasPrefix($0) || $0.hasPrefix(line) }: break
            default: sums.wrong.append(line)
            }
        }
    }
}
