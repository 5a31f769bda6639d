/// Look-ups that were handed to the disk and are not answered yet, so that none of them waits for ever.
///
/// The watch has no clock. Call ``tick()`` at regular intervals while look-ups wait: it gives up the look-ups that were
/// already waiting at the previous tick, so each has waited for one to two intervals. Every look-up's completion is
/// returned exactly once, to the caller that must call it.
///
/// A line hangs from the moment a look-up in it is given up until any look-up gets its turn in that line. Meanwhile, a
/// look-up that would have to wait in that line is a miss at once.
struct LookUpWatch<Completion: Sendable>: Sendable {
    /// The work that a look-up waits for.
    enum Line: Sendable {
        /// The changes that were requested before it; after them the look-up waits in the line for reading.
        case writes
        /// The opening of the store, other look-ups, and the look-up's own reading.
        case reads
    }

    /// The place in which a look-up found responses.
    enum Outcome: Sendable { case inMemory, onDisk, nothing }

    private struct Waiting {
        let completion: Completion
        var line: Line
        /// How many ticks there had been when the look-up was added.
        let ticks: Int
    }

    private var waiting: [Int: Waiting] = [:]
    private var lastNumber = 0
    private var ticks = 0
    private var isTicking = false
    private var hangingLines: Set<Line> = []
    /// Look-ups that were answered from disk.
    private(set) var diskHits = 0
    /// Look-ups that found nothing, including those given up.
    private(set) var misses = 0

    /// Whether a look-up was given up and its line has made no progress since.
    var isHanging: Bool { !hangingLines.isEmpty }

    /// The place of a look-up in its line.
    struct Position: Sendable {
        let number: Int
        /// Whether the caller must call ``tick()`` after an interval.
        let startsTicks: Bool
    }

    /// The caller's next steps when a look-up's turn comes.
    struct Turn: Sendable {
        /// Whether the look-up is still waiting for its result.
        var isAwaited = false
        /// The completion that must be called now.
        var completion: Completion?
        /// Whether the last hanging line has just recovered.
        var hasRecovered = false
    }

    /// The caller's next steps after a tick.
    struct Tick: Sendable {
        /// The completions that must be called with an empty result, in order.
        var givenUp: [Completion] = []
        /// Whether a line hangs now and none did before the tick.
        var startsHanging = false
        /// Whether the caller must call the next tick after an interval.
        var goesOn = false
    }

    /// Adds a look-up that is about to wait in a line.
    ///
    /// - Returns: `nil` when the line hangs; the look-up then counts as a miss.
    mutating func add(_ completion: Completion, to line: Line) -> Position? {
        if isHanging, hangingLines.contains(.reads) || hangingLines.contains(line) {
            misses += 1
            return nil
        }
        lastNumber += 1
        waiting[lastNumber] = Waiting(completion: completion, line: line, ticks: ticks)
        defer { isTicking = true }
        return Position(number: lastNumber, startsTicks: !isTicking)
    }

    /// Records that all writes before a look-up have been made: the look-up now waits in the line for reading.
    mutating func moveOn(_ number: Int) -> Turn {
        var turn = Turn(hasRecovered: recover(.writes))
        guard waiting[number] != nil else { return turn }
        guard !hangingLines.contains(.reads) else {
            turn.completion = remove(number)
            misses += 1
            return turn
        }
        waiting[number]?.line = .reads
        turn.isAwaited = true
        return turn
    }

    /// Records that a look-up is about to be made.
    mutating func begin(_ number: Int) -> Turn {
        Turn(isAwaited: waiting[number] != nil, hasRecovered: recover(.reads))
    }

    /// Records that a look-up was made.
    mutating func end(_ number: Int, _ outcome: Outcome) -> Turn {
        let turn = Turn(completion: remove(number), hasRecovered: recover(.reads))
        if turn.completion != nil { count(outcome) }
        return turn
    }

    /// Counts a look-up.
    mutating func count(_ outcome: Outcome) {
        switch outcome {
        case .inMemory: break
        case .onDisk: diskHits += 1
        case .nothing: misses += 1
        }
    }

    /// Gives up the look-ups that have waited for too long.
    mutating func tick() -> Tick {
        var tick = Tick()
        let wasHanging = isHanging
        for number in waiting.filter({ $0.value.ticks < ticks }).keys.sorted() {
            guard let line = waiting[number]?.line, let completion = remove(number) else { continue }
            hangingLines.insert(line)
            tick.givenUp.append(completion)
        }
        misses += tick.givenUp.count
        ticks += 1
        isTicking = !waiting.isEmpty
        tick.startsHanging = isHanging && !wasHanging
        tick.goesOn = isTicking
        return tick
    }

    private mutating func remove(_ number: Int) -> Completion? { waiting.removeValue(forKey: number)?.completion }

    private mutating func recover(_ line: Line) -> Bool {
        guard isHanging else { return false }
        hangingLines.remove(line)
        return !isHanging
    }
}
