#if canImport(FoundationNetworking)
import FoundationNetworking
#else
import Foundation
#endif

/// The reason for a session's call of `stopLoading`, which does not state it and comes some time after the event.
enum StopReason {
    /// The task is suspended and may be resumed.
    case suspension
    /// The task was cancelled; Foundation itself ends it afterwards.
    case cancellation
    /// The reason for the call is gone: the task was resumed already, or has ended.
    ///
    /// Foundation's own loader treats such a call as a cancel, and crashes because it finds no error.
    case overtaken

    init(_ task: URLSessionTask) {
        switch task.state {
        case .suspended: self = .suspension
        case .canceling: self = .cancellation
        case .running, .completed: self = .overtaken
        @unknown default: self = .overtaken
        }
    }
}
