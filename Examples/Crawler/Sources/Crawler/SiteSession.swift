import Foundation
import FoundationNetworking
import Waystation
import WaystationStorage

#if NIO
import WaystationNIO
#endif

/// The clients that load a site, and load it again; the only place that makes them.
///
/// The README explains it line by line.
struct SiteSession: Sendable {
    enum Mode: Sendable {
        /// Answers from the archive if it has the response, otherwise from the network, and archives the response. So a
        /// crawl that continues after a break requests no response that it has.
        case crawl
        /// Answers only from the archive. No request reaches the network.
        case offline
    }

    /// The engine that carries requests to the network.
    ///
    /// It is not a setting of the crawl: the responses are the same by either engine, so the journal does not keep it,
    /// and a crawl may continue with the other one.
    enum Engine: String, CaseIterable, Sendable {
        /// Foundation's own loader.
        case foundation
        /// Waystation's engine on SwiftNIO; the crawler must be built with the trait `NIO`.
        case nio
    }

    let loader: Loader
    private let cache: ResponseCache

    /// Opens the archive, in `http` below the crawl's directory, and makes a client on it.
    ///
    /// The recorder, if there is one, gets every load. Throws if the archive cannot be opened.
    init(
        _ mode: Mode,
        directory: URL,
        settings: CrawlSettings,
        engine: Engine = .foundation,
        recorder: (any ExchangeRecorder)? = nil
    ) throws {
        let forever = Duration.days(3650)
        cache = try ResponseCache(
            directory: directory.appending(path: "http"),
            maximumSize: .gibibytes(256),
            maximumAge: forever,
            maximumEntrySize: .gibibytes(16),
            memorySize: .mebibytes(8)
        )
        let interceptor = try Interceptor { [cache] in
            $0.rules = [.allow("*://*:*/**", via: .cache(mode == .offline ? .cacheOnly : .cacheFirst(for: forever)))]
            $0.cache = cache
            $0.recorder = recorder
            #if NIO
            if engine == .nio { $0.transport = .nio }
            #endif
        }
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = settings.concurrency
        configuration.timeoutIntervalForRequest = settings.timeout
        configuration.httpCookieStorage = nil
        loader = Loader(client: interceptor.client(configuration: configuration), userAgent: settings.userAgent)
    }

    /// Waits until everything that was loaded is on disk.
    @Sendable
    func settle() async {
        await cache.flush()
    }
}
