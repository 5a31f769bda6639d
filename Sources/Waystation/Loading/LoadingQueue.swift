import Dispatch
public import WaystationFoundation

/// The way back to the session's work queue, the only place where a protocol's client may be called.
///
/// A call from any other thread reads the session's task registry unguarded; under load the process crashes within
/// seconds.
struct LoadingQueue: Sendable {
    private let task: URLSessionTask
    private let queue: DispatchQueue?

    /// Finds the queue of a task.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - session: The task's session if it is known; otherwise the task's own queue is read.
    init(of task: URLSessionTask, in session: LoadingSession? = nil) {
        self.task = task
        queue = session?.workQueue ?? FoundationInternals.workQueue(of: task)
    }

    /// Whether work that is passed to ``hop(_:)`` is certain to run.
    var isKnown: Bool { queue != nil }

    /// Runs `work` on the work queue; `work` must check whether the load has ended meanwhile.
    ///
    /// If the queue cannot be read, the task is suspended and resumed instead. That uses public API only, and takes a
    /// few tens of microseconds longer. It makes the session call `startLoading` of the same protocol again on the
    /// right queue, which then delivers what is pending; `work` itself does not run.
    func hop(_ work: @escaping @Sendable () -> Void) {
        if let queue {
            if !DeliveryBatch.add(work, for: queue) { queue.async(execute: work) }
            return
        }
        // Both calls wait for the work queue, so they must not be made on the current queue, which may be that one.
        DispatchQueue.global().async { [task] in
            task.suspend()
            task.resume()
        }
    }
}

/// The flag of a task that makes Foundation resume an `async` caller on the loading queue.
///
/// `data(for:)` and its siblings set it. With the flag set, one cancel at the wrong moment stops all loads of the
/// process for good: the end of the load resumes the caller on the loading queue, for which it needs the lock of the
/// Swift task; a cancel of that task holds the lock while its handler calls `URLSessionTask.cancel()`, which waits for
/// the loading queue. With the flag off, Foundation calls the completion handler on the session's delegate queue, as it
/// does for `dataTask(with:completionHandler:)`, and neither waits for the other.
///
/// Only tasks of `async` callers have the flag set, so only their loads take the extra hop over the delegate queue.
///
/// From Swift 6.4 on, a cancel does not wait for the loading queue any more, and the flag is left alone.
@_spi(Measuring)
public struct InlineCompletion: Sendable {
    /// The flag of this toolchain.
    public static let current = InlineCompletion()

    package let cure: FoundationCure
    /// The offset of the flag in a task; nil if the cure stays out, and then nothing is read or written.
    private let offset: Int?

    /// Finds the flag of this name, which must be a stored `Bool` of `URLSessionTask`.
    init(
        property: String = "_callCompletionHandlerInline",
        isNeeded: Bool = ToolchainVersion.current < ToolchainVersion(6, 4)
    ) {
        let flag = StoredProperty(property, as: Bool.self, in: URLSessionTask.self)
        cure = FoundationCure(
            "L28",
            "a cancel at the end of an async load stops no other load",
            without: "cancelling a Swift task in the moment in which its load ends may stop all loads of the process",
            isNeeded: isNeeded,
            flag
        )
        offset = cure.isApplied ? flag.offset : nil
    }

    /// Whether the flag of a task is set; nil if the cure stays out.
    func isOn(for task: URLSessionTask) -> Bool? {
        offset.map { Self.storage(of: task).load(fromByteOffset: $0, as: UInt8.self) != 0 }
    }

    /// Switches the flag of a task off, if it is on.
    ///
    /// Call it before the task's protocol starts, or on the task's work queue, where Foundation reads the flag.
    public func switchOff(for task: URLSessionTask) {
        guard let offset else { return }
        let storage = Self.storage(of: task)
        if storage.load(fromByteOffset: offset, as: UInt8.self) != 0 {
            storage.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self)
        }
    }

    private static func storage(of task: URLSessionTask) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(task).toOpaque()
    }
}
