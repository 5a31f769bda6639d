import Synchronization

extension ScriptedTransport {
    /// A point at which an answer waits until the test opens the gate.
    ///
    /// One gate may hold several answers, and stays open once opened.
    public final class Gate: Sendable {
        private struct State {
            var isOpen = false
            var waiting: [@Sendable () -> Void] = []
        }

        private let state = Mutex(State())

        /// Makes a closed gate.
        public init() {}

        /// Lets all answers that wait at this gate continue, now and in the future.
        public func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for goOn in waiting { goOn() }
        }

        func whenOpen(_ goOn: @escaping @Sendable () -> Void) {
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(goOn) }
                return state.isOpen
            }
            if isOpen { goOn() }
        }
    }
}
