import Dispatch
import Synchronization

/// Runs work for each element, on all cores, and blocks until it is done; the first error ends it.
///
/// For callers that are not in a task.
func inParallel<Element: Sendable>(_ elements: [Element], _ body: @escaping @Sendable (Element) throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: elements.count) { index in
        guard failure.withLock({ $0 == nil }) else { return }
        do {
            try body(elements[index])
        } catch {
            failure.withLock { $0 = $0 ?? error }
        }
    }
    if let failure = failure.withLock({ $0 }) { throw failure }
}
