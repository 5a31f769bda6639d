import Foundation
import FoundationNetworking

/// The one place that knows Waystation: makes the session through which a site is loaded.
enum SiteSession {
    enum Mode: Sendable {
        /// From the archive what it holds, from the network what it does not; what comes is archived.
        case crawl
        /// From the archive alone. Nothing reaches the network.
        case offline
    }

    /// - Parameters:
    ///   - directory: Of the crawl; the archive lies in `http` below it.
    ///   - connections: At a time to one host.
    ///   - timeout: Seconds without a byte.
    static func configuration(
        _ mode: Mode, directory: URL, connections: Int, timeout: TimeInterval
    ) throws -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = connections
        configuration.timeoutIntervalForRequest = timeout
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        return configuration
    }
}
