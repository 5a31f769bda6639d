import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// The longest time in which nothing happens in an exchange; nil if the request has no limit.
    var silenceLimit: Duration? {
        // An infinite number of seconds is no `Duration`, so the limit is about 30 years at most.
        timeoutInterval > 0 ? .seconds(min(timeoutInterval, 1_000_000_000)) : nil
    }
}
