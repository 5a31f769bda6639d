import Foundation
import SiteTools

/// The settings of a crawl.
///
/// The journal keeps them, so that the crawl continues with the same settings after a break.
struct CrawlSettings: Codable, Sendable, Equatable {
    var startURLs: [String] = []
    var scope = Scope.Breadth.host
    /// The greatest number of links from a start page; nil for no limit.
    var depth: Int?
    var include: [Glob] = []
    var exclude: [Glob] = []
    var maximumPages: Int?
    var maximumBytes: Int?
    var maximumSeconds: Double?
    var obeysRobots = true
    var readsSitemaps = true
    /// The number of simultaneous loads from one host.
    var concurrency = 6
    /// The number of requests started per second and host; nil for no limit.
    var requestsPerSecond: Double?
    var retries = 4
    /// Seconds without a byte after which a load fails.
    var timeout = 30.0
    var userAgent = "waystation-crawler/1.0"

    /// The name that selects the rules of robots.txt: the user agent up to its version.
    var productToken: String {
        String(userAgent.prefix { $0.isASCII && ($0.isLetter || $0 == "-" || $0 == "_") })
    }
}
