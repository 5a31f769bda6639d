package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension URLRequest {
    /// The interval of a request for which the app gave none.
    package static let unsetTimeoutInterval: TimeInterval = 60

    /// Whether the request has an interval of its own.
    ///
    /// Foundation records in a separate flag whether the interval was set, and the initializer that takes an interval
    /// fails to set that flag. The interval itself is stored. So every interval other than the default one counts as
    /// given, and so does the default one if the property was set. Only an interval of zero or less counts as Foundation
    /// has it: from the property it ends the load at once, from the initializer it means nothing.
    package var hasTimeoutInterval: Bool {
        (timeoutInterval > 0 && timeoutInterval != Self.unsetTimeoutInterval) || isTimeoutIntervalSet
    }

    /// Whether the property was set; false if Foundation's flag is not found.
    private var isTimeoutIntervalSet: Bool {
        guard let offset = Self.timeoutFlag else { return false }
        return withUnsafeBytes(of: self) { $0.load(fromByteOffset: offset, as: UInt8.self) != 0 }
    }

    private static let timeoutFlag = FoundationInternals.offset(
        of: "isTimeoutIntervalSet",
        as: Bool.self,
        in: URLRequest.self
    )

    /// Whether the interval is shorter than Foundation can wait: it counts whole seconds, and less than one second is
    /// zero.
    package var hasTimeoutBelowOneSecond: Bool { timeoutInterval > 0 && timeoutInterval < 1 }

    /// The longest interval, in seconds, that Foundation's loader is given: 68 years.
    ///
    /// The loader counts the interval in an integer number of milliseconds, and ends the process if the number is too
    /// large.
    fileprivate static let longestTimeoutInterval = TimeInterval(Int32.max)

    /// The same request with its interval set so that Foundation's loader obeys it: by the property, in whole seconds,
    /// rounded up.
    package var settingTimeoutInterval: URLRequest {
        guard hasTimeoutInterval, timeoutInterval > 0 else { return self }
        var request = self
        request.timeoutInterval = min(timeoutInterval.rounded(.up), Self.longestTimeoutInterval)
        return request
    }
}

/// The flag in a task's own request that makes Foundation's loader obey the request's interval.
///
/// The loader takes the request from the task, whichever protocol hands the task to it. So for the loads that
/// Foundation runs itself, the flag is set in the task before they start.
package struct RequestTimeout: Sendable {
    /// The flag of this toolchain.
    package static let current = RequestTimeout(request: "originalRequest", flag: "isTimeoutIntervalSet")

    /// The offset of the flag in a task; nil when it was not found, and then nothing is written.
    private let offset: Int?

    /// Finds the flag and the request by their names.
    package init(request: String, flag: String) {
        // The stored request can be changed in place only if an optional request has the same memory layout as a
        // request.
        guard MemoryLayout<URLRequest?>.size == MemoryLayout<URLRequest>.size,
            let request = FoundationInternals.offset(of: request, as: URLRequest?.self, in: URLSessionTask.self),
            let flag = FoundationInternals.offset(of: flag, as: Bool.self, in: URLRequest.self)
        else {
            offset = nil
            return
        }
        offset = request + flag
    }

    /// Whether Foundation's loader obeys the interval of a task's request; nil when the flag was not found.
    package func isObeyed(for task: URLSessionTask) -> Bool? {
        offset.map { Unmanaged.passUnretained(task).toOpaque().load(fromByteOffset: $0, as: UInt8.self) != 0 }
    }

    /// Makes Foundation's loader obey the interval of a task's request, however the interval was given.
    ///
    /// An interval that the loader cannot count, such as an infinite one, is ignored, and the session's limit applies.
    ///
    /// Call it before the task's protocol starts, or on the task's work queue before the loader is made.
    package func obey(for task: URLSessionTask) {
        guard let offset, let request = task.originalRequest, request.hasTimeoutInterval,
            request.timeoutInterval >= 1
        else { return }
        let isObeyed: UInt8 = request.timeoutInterval <= URLRequest.longestTimeoutInterval ? 1 : 0
        Unmanaged.passUnretained(task).toOpaque().storeBytes(of: isObeyed, toByteOffset: offset, as: UInt8.self)
    }
}
