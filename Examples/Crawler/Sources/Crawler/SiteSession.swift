import Foundation
import FoundationNetworking
import Waystation
import WaystationStorage

/// The one place that knows Waystation: the sessions through which a site is loaded, and loaded again.
struct SiteSession: Sendable {
    enum Mode: Sendable {
        /// From the archive what it holds, from the network what it does not; what comes is archived. So a crawl that
        /// goes on after a break asks no server for what it has.
        case crawl
        /// From the archive alone. Nothing reaches the network.
        case offline
    }

    let loader: Loader
    private let cache: ResponseCache

    /// - Parameter directory: Of the crawl; the archive lies in `http` below it.
    /// - Throws: When the archive cannot be opened.
    init(_ mode: Mode, directory: URL, settings: CrawlSettings) throws {
        let forever = Duration.days(3650)
        let cache = try ResponseCache(
            directory: directory.appending(path: "http"),
            maximumSize: .gibibytes(256),
            maximumAge: forever,
            maximumEntrySize: .gibibytes(16),
            // Everything is loaded once, so nothing is gained by keeping it at hand.
            memorySize: .mebibytes(8)
        )
        let interceptor = try Interceptor {
            // Every host, at any port.
            $0.rules = [.allow("*://*:*/**", via: .cache(mode == .offline ? .cacheOnly : .cacheFirst(for: forever)))]
            $0.cache = cache
        }
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = settings.concurrency
        configuration.timeoutIntervalForRequest = settings.timeout
        // One visitor without a memory: a crawl must not depend on what was loaded before.
        configuration.httpCookieStorage = nil
        // Nothing is left that could reach the network, should the rule ever not take a request.
        if mode == .offline { configuration.protocolClasses = [] }
        self.cache = cache
        loader = Loader(configuration: configuration.intercepted(by: interceptor), userAgent: settings.userAgent)
    }

    /// Ends the session when everything that was loaded is on disk.
    func close() async {
        await cache.flush()
        loader.invalidate()
    }
}
