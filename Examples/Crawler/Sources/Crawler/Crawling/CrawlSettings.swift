import Foundation

/// What a crawl was asked to do.
///
/// Kept in its journal, so that it goes on the same way after a break.
struct CrawlSettings: Codable, Sendable, Equatable {
    var startURLs: [String] = []
    var scope = Scope.Breadth.host
    /// Links away from a start page; nil for no limit.
    var depth: Int?
    var include: [Glob] = []
    var exclude: [Glob] = []
    var maximumPages: Int?
    var maximumBytes: Int?
    var maximumSeconds: Double?
    var obeysRobots = true
    var readsSitemaps = true
    /// Loads at a time from one host.
    var concurrency = 6
    /// Requests started per second and host; nil for no limit.
    var requestsPerSecond: Double?
    var retries = 4
    /// Seconds without a byte before a load is given up.
    var timeout = 30.0
    var userAgent = "waystation-crawler/1.0"

    /// The name that robots.txt rules are chosen by: the user agent up to its version.
    var productToken: String {
        String(userAgent.prefix { $0.isASCII && ($0.isLetter || $0 == "-" || $0 == "_") })
    }
}
