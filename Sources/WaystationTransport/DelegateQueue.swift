import Dispatch
package import Foundation

/// The queue on which the transport's session calls its delegate: one call at a time, in order.
///
/// Foundation makes an operation of each call of a delegate, with locks and scheduling of its own. This class passes
/// the call to a dispatch queue directly, which is faster.
///
/// `@unchecked Sendable` because the superclass is; the properties added here do not change.
package final class DelegateQueue: OperationQueue, @unchecked Sendable {
    private let calls = DispatchQueue(label: "waystation.transport")

    /// Slows the session down when its delegate or its loads cannot keep up.
    package let pacer = TransferPacer()

    package override init() {
        super.init()
        maxConcurrentOperationCount = 1
        name = calls.label
    }

    package override func addOperation(_ block: @Sendable @escaping () -> Void) {
        pacer.callQueued()
        calls.async { [pacer] in
            block()
            pacer.callMade()
        }
    }
}
