/// The counts of how the loads of one or several runs ended.
struct Tally: CustomStringConvertible {
    var answered = 0
    var cancelled = 0
    var failed = 0

    init() {}

    /// Reads the text of `description`.
    init?(_ text: String) {
        let numbers = text.split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 3 else { return nil }
        (answered, cancelled, failed) = (numbers[0], numbers[1], numbers[2])
    }

    var description: String { "\(answered) answered, \(cancelled) cancelled, \(failed) failed" }

    /// Whether some loads were answered, and all others were cancelled.
    ///
    /// Hits, files and packs answer before a cancel can take effect, so every cancel of these comes when the load ends.
    var isSound: Bool { answered > 0 && failed == 0 }

    static func += (sum: inout Tally, one: Tally) {
        sum.answered += one.answered
        sum.cancelled += one.cancelled
        sum.failed += one.failed
    }
}
