import Synchronization

/// The first error of work on several threads.
final class FirstFailure: Sendable {
    private let error = Mutex<(any Error)?>(nil)

    var hasFailed: Bool { error.withLock { $0 != nil } }

    func note(_ failure: any Error) { error.withLock { $0 = $0 ?? failure } }

    func rethrow() throws {
        if let failure = error.withLock({ $0 }) { throw failure }
    }
}
