import Dispatch
import Synchronization
import WaystationCaching

/// Look-ups wait for the disk, but not for ever: a disk that hangs must not block the loads that requested them.
extension ResponseStore {
    typealias LookUps = LookUpWatch<@Sendable ([StoredResponse]) -> Void>

    /// Hands a look-up to the disk, after the pending changes of its key.
    func wait(
        for key: RequestKey,
        opening mayAnswer: @escaping @Sendable (StoredHead) -> Bool,
        completion: @escaping @Sendable ([StoredResponse]) -> Void
    ) {
        let isChanging = resident.isChanging(key)
        let ticket = lookUps.withLock { $0.add(completion, to: isChanging ? .writes : .reads) }
        guard let ticket else { return watchQueue.async { completion([]) } }
        if ticket.startsTicks { scheduleTick() }
        let number = ticket.number
        guard isChanging else { return readQueue.async { self.answer(number, key, opening: mayAnswer) } }
        enqueue { [self] in
            let turn = takeTurn { $0.moveOn(number) }
            turn.completion?([])
            if turn.isAwaited { readQueue.async { self.answer(number, key, opening: mayAnswer) } }
        }
    }

    /// Makes a look-up, unless it was given up meanwhile.
    ///
    /// Call it on the read queue.
    private func answer(_ number: Int, _ key: RequestKey, opening mayAnswer: (StoredHead) -> Bool) {
        guard takeTurn({ $0.begin(number) }).isAwaited else { return }
        let found = find(key, opening: mayAnswer)
        takeTurn { $0.end(number, found.outcome) }.completion?(found.responses)
    }

    private func takeTurn(_ change: (inout LookUps) -> LookUps.Turn) -> LookUps.Turn {
        lookUps.withLock { lookUps in
            let turn = change(&lookUps)
            // The event is queued under the lock; otherwise it could change places with the event of a tick.
            if turn.hasRecovered { watchQueue.async { self.reportAnswer() } }
            return turn
        }
    }

    private func reportAnswer() {
        state.withLock { $0.condition.hanging = nil }
        // A store that does not work for another reason has reported it, and reports when it works again.
        if case .unavailable = state.withLock({ $0.availability }) { return }
        report(StoreEvent(.recovered, count: 0, detail: "\(layout.root): the disk answers again"))
    }

    private func scheduleTick() {
        environment.afterDelay(watchQueue, environment.lookUpInterval) { [weak self] in self?.tick() }
    }

    private func tick() {
        let goesOn = lookUps.withLock { lookUps in
            let tick = lookUps.tick()
            // The event is queued under the lock, so that events keep their order.
            if !tick.givenUp.isEmpty { watchQueue.async { self.giveUp(tick) } }
            return tick.goesOn
        }
        if goesOn { scheduleTick() }
    }

    private func giveUp(_ tick: LookUps.Tick) {
        if tick.startsHanging {
            let detail = """
                \(layout.root): the disk does not answer; look-ups that would wait for it find nothing, and nothing new \
                is stored, until it does
                """
            let event = StoreEvent(.unavailable, count: 0, detail: detail)
            state.withLock { $0.condition.hanging = event }
            report(event)
        }
        for completion in tick.givenUp { completion([]) }
    }
}
