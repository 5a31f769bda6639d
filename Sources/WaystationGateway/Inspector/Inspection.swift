#if Gateway
import Synchronization
import Waystation

/// The inspector's part that begins with a gateway: its secret, and the loads since then.
final class Inspection: Sendable {
    let secret = InspectorSecret()
    let log = LoadLog()
    private let endRecording = Mutex<(@Sendable () -> Void)?>(nil)

    deinit { end() }

    /// Begins to record the loads of an interceptor.
    func begin(_ interceptor: Interceptor) {
        let end = interceptor.addRecorder(log)
        endRecording.withLock { $0 = end }
    }

    /// Records no more loads.
    func end() {
        let end = endRecording.withLock { endRecording in
            defer { endRecording = nil }
            return endRecording
        }
        end?()
    }
}
#endif
