package import WaystationFoundation

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
    package static let current = RequestTimeout()

    /// Marks an interval that the initializer was given as set.
    package let cure: FoundationCure
    /// Marks an interval that the loader cannot count as not set.
    package let limitCure: FoundationCure
    /// The offset of the flag in a task; nil if both cures stay out, and then nothing is written.
    private let offset: Int?

    /// Finds the flag and the request by their names.
    ///
    /// - Parameters:
    ///   - request: The name of the request in a task.
    ///   - flag: The name of the flag in a request.
    ///   - isNeeded: Whether the initializer fails to set the flag; nil, the default, to try it.
    package init(
        request: String = "originalRequest",
        flag: String = "isTimeoutIntervalSet",
        isNeeded: Bool? = nil
    ) {
        let request = StoredProperty(request, as: URLRequest?.self, in: URLSessionTask.self)
        let flag = StoredProperty(flag, as: Bool.self, in: URLRequest.self)
        let isForgotten = isNeeded ?? flag.offset.map(Self.isForgotten) ?? true
        // The stored request can be changed in place only if an optional request has the same memory layout as a
        // request.
        let isInPlace = MemoryLayout<URLRequest?>.size == MemoryLayout<URLRequest>.size
        let missing = isInPlace ? [request, flag].first { $0.offset == nil }?.description : "URLRequest?, in place"
        cure = FoundationCure(
            "L31",
            "a time-out that a request's initializer was given is obeyed",
            without: "the time-out of a request's initializer is ignored, and the session's own applies",
            isNeeded: isForgotten,
            missing: missing
        )
        limitCure = FoundationCure(
            "L31",
            "a time-out may be longer than Foundation can count",
            without: "a request with a time-out of more than 68 years may end the process",
            missing: missing
        )
        offset =
            if limitCure.isApplied, let request = request.offset, let flag = flag.offset {
                request + flag
            } else { nil }
    }

    /// Whether the initializer of a request fails to set the flag at an offset.
    private static func isForgotten(_ offset: Int) -> Bool {
        let request = URLRequest(
            url: URL(fileURLWithPath: "/"),
            cachePolicy: .useProtocolCachePolicy,
            timeoutInterval: 7
        )
        return withUnsafeBytes(of: request) { $0.load(fromByteOffset: offset, as: UInt8.self) == 0 }
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
        let isObeyed = request.timeoutInterval <= URLRequest.longestTimeoutInterval
        guard cure.isApplied || !isObeyed else { return }
        let flag: UInt8 = isObeyed ? 1 : 0
        Unmanaged.passUnretained(task).toOpaque().storeBytes(of: flag, toByteOffset: offset, as: UInt8.self)
    }
}
