package import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Work for dispatch queues that one thread collects, and passes to each queue in one block.
///
/// A transport whose bytes arrive for many loads at once calls their receivers within ``collect(_:)``. Each receiver
/// passes work to the queue of its session, and all loads of a session have the same one: so a turn of an event loop
/// wakes each session's queue once, instead of once for each load.
package enum DeliveryBatch {
    /// Calls `body`, and then passes the work that it added to the queues.
    package static func collect(_ body: () -> Void) {
        guard let key, pthread_getspecific(key) == nil else { return body() }
        let works = Works()
        pthread_setspecific(key, Unmanaged.passUnretained(works).toOpaque())
        body()
        pthread_setspecific(key, nil)
        works.pass()
    }

    /// Adds work for a queue to the batch that this thread collects.
    ///
    /// - Returns: False if the thread collects none: then the caller passes the work to the queue itself.
    package static func add(_ work: @escaping @Sendable () -> Void, for queue: DispatchQueue) -> Bool {
        guard let key, let works = pthread_getspecific(key) else { return false }
        Unmanaged<Works>.fromOpaque(works).takeUnretainedValue().add(work, for: queue)
        return true
    }

    /// The batch of the thread that collects it; used by that thread only.
    private final class Works {
        private var queues: [(queue: DispatchQueue, works: [@Sendable () -> Void])] = []

        func add(_ work: @escaping @Sendable () -> Void, for queue: DispatchQueue) {
            // There are few sessions, and often only one.
            if let index = queues.firstIndex(where: { $0.queue === queue }) {
                queues[index].works.append(work)
            } else {
                queues.append((queue, [work]))
            }
        }

        func pass() {
            for (queue, works) in queues {
                queue.async { for work in works { work() } }
            }
        }
    }

    /// The thread's place for its batch; nil if the system has no place left, and then nothing is collected.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()
}
