import Synchronization

/// The moves of a round that have not ended.
final class PendingMoves: Sendable {
    private let names = Mutex<[Int: String]>([:])

    /// Makes a move after some turns of other tasks.
    func begin(_ name: String, afterTurns turns: Int, _ move: @escaping @Sendable () async -> Void) {
        let number = names.withLock { names in
            let number = names.count
            names[number] = name
            return number
        }
        Task {
            for _ in 0..<turns { await Task.yield() }
            await move()
            names.withLock { $0[number] = "" }
        }
    }

    /// Waits until all moves have ended.
    ///
    /// A move that hangs would stop the whole run, and show nothing.
    ///
    /// - Parameter step: Called again and again; lets pass what the moves may wait for.
    /// - Returns: The moves that have not ended after five minutes.
    func end(_ step: () async -> Void) async -> [String] {
        let begin = ContinuousClock.now
        while true {
            let names = names.withLock { $0.values.filter { !$0.isEmpty } }
            guard !names.isEmpty, begin.duration(to: .now) < .seconds(300) else { return names.sorted() }
            await step()
        }
    }
}
