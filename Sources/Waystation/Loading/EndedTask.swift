import Foundation
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Keeps a task whose load has ended from being resumed.
///
/// A task is completed only when its recipient has got the end, on another queue than its protocol's. If the app resumes
/// it just before that, Foundation finds no protocol any more and takes that for an unsupported URL. It reports this
/// error for a task that the session may have forgotten by then, which ends the process.
///
/// A task starts only when its count of suspensions reaches zero, so a load that ends sets a count from which no app
/// gets there. The task is completed as before; from such a resume until then, its state is `suspended`.
struct EndedTask: Sendable {
    /// The count of this toolchain.
    static let current = EndedTask()

    /// More than an app can resume, and less than the number of suspensions that Foundation allows.
    static let suspensions = 1 << 40

    let cure: FoundationCure
    /// The offset of the count in a task; nil if the cure stays out, and then nothing is read or written.
    private let offset: Int?

    /// Finds the count of this name, which must be a stored `Int` of `URLSessionTask`.
    init(property: String = "suspendCount", isNeeded: Bool = true) {
        let count = StoredProperty(property, as: Int.self, in: URLSessionTask.self)
        cure = FoundationCure(
            "L38",
            "a task whose load has just ended may be resumed",
            without: "resuming a task in the moment in which its load ends may end the process",
            isNeeded: isNeeded,
            count
        )
        offset = cure.isApplied ? count.offset : nil
    }

    /// The number of suspensions of a task; nil if the cure stays out.
    func suspensions(of task: URLSessionTask) -> Int? {
        offset.map { Self.storage(of: task).load(fromByteOffset: $0, as: Int.self) }
    }

    /// Makes resuming a task useless.
    ///
    /// Call it on the task's work queue, where Foundation reads and changes the count.
    ///
    /// - Parameters:
    ///   - task: The task, whose client is about to get the end.
    ///   - status: The status of the task's response; nil if the task has no response. With a 401 the count is not
    ///     changed, because Foundation may answer the challenge of the 401 by resuming the task.
    func keepFromResuming(_ task: URLSessionTask, status: Int? = nil) {
        guard let offset, status != 401 else { return }
        Self.storage(of: task).storeBytes(of: Self.suspensions, toByteOffset: offset, as: Int.self)
    }

    private static func storage(of task: URLSessionTask) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(task).toOpaque()
    }
}
