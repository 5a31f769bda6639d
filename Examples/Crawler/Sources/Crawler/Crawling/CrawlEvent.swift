import Foundation
import WaystationHTTP

/// An event of a crawl, for observers.
enum CrawlEvent: Sendable {
    /// `known` is above zero if the crawl continues an earlier run.
    case began(settings: CrawlSettings, known: Int)
    /// A resource was loaded, was answered with an error, or failed for good.
    case settled(LoadRecord, CrawlProgress)
    case disallowed(CanonicalURL)
    case retrying(CanonicalURL, reason: String, attempt: Int, after: Duration)
    case ended(CrawlSummary)
}

/// Receives events one at a time, in order; a call must return quickly.
protocol CrawlObserver: Sendable {
    func observe(_ event: CrawlEvent)
}

struct CrawlProgress: Sendable {
    var done = 0
    /// The number of resources that are done, in flight or queued.
    var known = 0
    var bytes = 0
    var elapsed: TimeInterval = 0
}

/// The state of a crawl at its end; the counts include earlier runs that this one continued.
struct CrawlSummary: Sendable, Codable, Equatable {
    enum End: String, Sendable, Codable {
        case complete
        case pageLimit = "page limit"
        case byteLimit = "byte limit"
        case timeLimit = "time limit"
        case interrupted
    }

    var end = End.complete
    var pages = 0
    var resources = 0
    var bytes = 0
    /// Resources that the archive answered in this run.
    var fromArchive = 0
    /// Resources that the network answered in this run.
    var fromNetwork = 0
    var broken = 0
    var failed = 0
    var disallowed = 0
    /// Resources that are known but not loaded, because of a limit or an interruption.
    var leftOver = 0
    /// The duration of this run.
    var seconds: TimeInterval = 0

    mutating func count(_ record: LoadRecord) {
        switch record.state {
        case .loaded:
            if record.isPage { pages += 1 } else { resources += 1 }
            bytes += record.size
        case .broken: broken += 1
        case .failed: failed += 1
        default: break
        }
    }
}
