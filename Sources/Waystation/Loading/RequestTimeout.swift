import Foundation
import FoundationNetworking

extension URLRequest {
    /// The interval of a request for which none was given.
    static let unsetTimeoutInterval: TimeInterval = 60

    /// Whether it has a limit of its own.
    ///
    /// Foundation keeps whether the interval was set in a flag of its own, which the initializer that takes an interval
    /// forgets to set; the interval itself is kept. So every interval but the default one counts as given.
    var hasTimeoutInterval: Bool { timeoutInterval != Self.unsetTimeoutInterval }

    /// Whether its interval is shorter than Foundation can wait: it counts whole seconds, and less than one is none.
    var hasTimeoutBelowOneSecond: Bool { timeoutInterval > 0 && timeoutInterval < 1 }

    /// The same request with its interval set in the way that Foundation's loader obeys: by the property, in whole
    /// seconds, rounded up.
    var settingTimeoutInterval: URLRequest {
        guard hasTimeoutInterval, timeoutInterval > 0 else { return self }
        var request = self
        request.timeoutInterval = timeoutInterval.rounded(.up)
        return request
    }
}

/// The flag in a task's own request that has Foundation's loader obey the request's interval.
///
/// The loader takes the request from the task, whatever protocol hands the task to it, so for the loads that Foundation
/// runs itself the flag is set there, before they start.
struct RequestTimeout: Sendable {
    /// The flag of this toolchain.
    static let current = RequestTimeout(request: "originalRequest", flag: "isTimeoutIntervalSet")

    /// Where the flag lies in a task; nil where it was not found, and then nothing is written.
    private let offset: Int?

    /// The flag of a name, in the request of a name.
    init(request: String, flag: String) {
        // An optional request must lie in memory as a request does.
        guard MemoryLayout<URLRequest?>.size == MemoryLayout<URLRequest>.size,
            let request = FoundationInternals.offset(of: request, as: URLRequest?.self, in: URLSessionTask.self),
            let flag = FoundationInternals.offset(of: flag, as: Bool.self, in: URLRequest.self)
        else {
            offset = nil
            return
        }
        offset = request + flag
    }

    /// Whether Foundation's loader obeys the interval of a task's request; nil where the flag was not found.
    func isObeyed(for task: URLSessionTask) -> Bool? {
        offset.map { Unmanaged.passUnretained(task).toOpaque().load(fromByteOffset: $0, as: UInt8.self) != 0 }
    }

    /// Has Foundation's loader obey the interval of a task's request, however the interval was given.
    ///
    /// To be called before the task's protocol starts, or on the task's work queue before the loader is made.
    func obey(for task: URLSessionTask) {
        guard let offset, let request = task.originalRequest, request.hasTimeoutInterval,
            request.timeoutInterval >= 1
        else { return }
        Unmanaged.passUnretained(task).toOpaque().storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)
    }
}
