import Foundation
import Synchronization
import Testing

@testable import Waystation

@Suite("The queue of the transport's delegate")
struct DelegateQueueTests {
    @Test("runs one call at a time, in the order in which they were added")
    func order() async {
        let queue = DelegateQueue()
        let made = Mutex<[Int]>([])
        let overtaken = DispatchSemaphore(value: 0)
        await withCheckedContinuation { continuation in
            queue.addOperation {
                // Gives the second call time to overtake this one.
                _ = overtaken.wait(timeout: .now() + .milliseconds(100))
                made.withLock { $0.append(1) }
                continuation.resume()
            }
            queue.addOperation {
                made.withLock { $0.append(2) }
                overtaken.signal()
            }
        }
        await withCheckedContinuation { continuation in queue.addOperation { continuation.resume() } }
        #expect(made.withLock { $0 } == [1, 2])
    }
}
