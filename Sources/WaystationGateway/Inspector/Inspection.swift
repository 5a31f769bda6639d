#if Gateway
import Synchronization
import Waystation

/// The inspector's part that begins with a gateway: its secret, and the loads and events since then.
final class Inspection: Sendable {
    let secret = InspectorSecret()
    let log = LoadLog()
    let events = EventLog()
    private let endRecording = Mutex<(@Sendable () -> Void)?>(nil)

    deinit { end() }

    /// Begins to record the loads and the events of an interceptor.
    func begin(_ interceptor: Interceptor) {
        let endLoads = interceptor.addRecorder(log)
        let (stream, now) = (interceptor.events, interceptor.now)
        let reading = Task { [events] in
            for await event in stream { events.add(event, at: now()) }
        }
        endRecording.withLock {
            $0 = {
                endLoads()
                reading.cancel()
            }
        }
    }

    /// Records no more loads and events.
    func end() {
        let end = endRecording.withLock { endRecording in
            defer { endRecording = nil }
            return endRecording
        }
        end?()
    }
}
#endif
