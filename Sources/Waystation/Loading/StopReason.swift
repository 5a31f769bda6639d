import FoundationNetworking

/// Why a session called `stopLoading`: it does not say, and calls some time after the fact.
enum StopReason {
    /// The task is suspended and may be resumed.
    case suspension
    /// The task was cancelled; Foundation itself ends it afterwards.
    case cancellation
    /// What the call was about is over: the task was resumed already, or has ended. Foundation's own loader takes
    /// this for a cancel, and dies of the error that it then does not find.
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
