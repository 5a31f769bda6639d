/// Look-ups that were handed to the disk and are not answered yet, so that none of them waits for ever.
///
/// It knows no clock. ``tick()`` is to be called in intervals while look-ups wait, and gives up those that were here at
/// the tick before: they have waited for one interval at least, and for two at most. Each look-up's completion leaves
/// once, with whoever is to call it.
///
/// A line hangs from when a look-up in it was given up until the turn of any comes. What would stand in it meanwhile is
/// missed at once.
struct LookUpWatch<Completion: Sendable>: Sendable {
    /// What a look-up waits for.
    enum Line: Sendable {
        /// The changes that were asked for before it; it stands in line for its reading after them.
        case writes
        /// The opening of the store, other look-ups, and its own reading.
        case reads
    }

    /// What was found.
    enum Outcome: Sendable { case inMemory, onDisk, nothing }

    private struct Waiting {
        let completion: Completion
        var line: Line
        /// How many ticks there had been when it came.
        let ticks: Int
    }

    private var waiting: [Int: Waiting] = [:]
    private var lastNumber = 0
    private var ticks = 0
    private var isTicking = false
    private var hangingLines: Set<Line> = []
    /// Look-ups that were answered from disk.
    private(set) var diskHits = 0
    /// Look-ups that were answered with nothing, those given up included.
    private(set) var misses = 0

    /// Whether a look-up was given up, and what it waited for has not moved since.
    var isHanging: Bool { !hangingLines.isEmpty }

    /// A look-up's place.
    struct Ticket: Sendable {
        let number: Int
        /// Whether ``tick()`` must be called after an interval.
        let startsTicks: Bool
    }

    /// What is to be done when a look-up's turn comes.
    struct Turn: Sendable {
        /// Whether somebody still waits for it.
        var isAwaited = false
        /// To be called now.
        var completion: Completion?
        /// Whether nothing hangs any more.
        var hasRecovered = false
    }

    /// What is to be done at a tick.
    struct Tick: Sendable {
        /// To be called with nothing, in order.
        var givenUp: [Completion] = []
        /// Whether something hangs that did not before.
        var startsHanging = false
        /// Whether the next tick must be called after an interval.
        var goesOn = false
    }

    /// Adds a look-up that is about to stand in a line.
    ///
    /// - Returns: `nil` for one that would wait in vain, which counts as missed.
    mutating func add(_ completion: Completion, to line: Line) -> Ticket? {
        if isHanging, hangingLines.contains(.reads) || hangingLines.contains(line) {
            misses += 1
            return nil
        }
        lastNumber += 1
        waiting[lastNumber] = Waiting(completion: completion, line: line, ticks: ticks)
        defer { isTicking = true }
        return Ticket(number: lastNumber, startsTicks: !isTicking)
    }

    /// Notes that all writes before a look-up have been made: it stands in line for its reading now.
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

    /// Notes that a look-up is about to be made.
    mutating func begin(_ number: Int) -> Turn {
        Turn(isAwaited: waiting[number] != nil, hasRecovered: recover(.reads))
    }

    /// Notes that a look-up was made.
    mutating func end(_ number: Int, _ outcome: Outcome) -> Turn {
        let turn = Turn(completion: remove(number), hasRecovered: recover(.reads))
        guard turn.completion != nil else { return turn }
        switch outcome {
        case .inMemory: break
        case .onDisk: diskHits += 1
        case .nothing: misses += 1
        }
        return turn
    }

    /// Gives up what has waited for too long.
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
