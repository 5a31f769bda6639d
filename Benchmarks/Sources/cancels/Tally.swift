/// How the loads of one run, or of several, ended.
struct Tally: CustomStringConvertible {
    var answered = 0
    var cancelled = 0
    var failed = 0

    init() {}

    /// Reads what `description` writes.
    init?(_ text: String) {
        let numbers = text.split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 3 else { return nil }
        (answered, cancelled, failed) = (numbers[0], numbers[1], numbers[2])
    }

    var description: String { "\(answered) answered, \(cancelled) cancelled, \(failed) failed" }

    /// Whether loads were answered, and nothing but cancels ended others.
    ///
    /// Hits, files and packs answer before a cancel can take effect: there every cancel meets the end of the load.
    var isSound: Bool { answered > 0 && failed == 0 }

    static func += (sum: inout Tally, one: Tally) {
        sum.answered += one.answered
        sum.cancelled += one.cancelled
        sum.failed += one.failed
    }
}
