import Dispatch
import Foundation

/// The queue on which the transport's session tells its delegate: one call at a time, in order.
///
/// Foundation makes an operation of each call, with locks and a schedule of its own. Here it goes to a dispatch queue at
/// once.
///
/// `@unchecked Sendable` because the superclass is; what is added here does not change.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    private let calls = DispatchQueue(label: "waystation.transport")

    /// Slows the session down whose calls these are.
    let pacer = TransferPacer()

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
        name = calls.label
    }

    override func addOperation(_ block: @Sendable @escaping () -> Void) {
        pacer.callQueued()
        calls.async { [pacer] in
            block()
            pacer.callMade()
        }
    }
}
