import Foundation

/// What happens during a crawl, for those who watch it.
enum CrawlEvent: Sendable {
    /// `known` is above zero when an earlier crawl is taken up.
    case began(settings: CrawlSettings, known: Int)
    /// Loaded, broken or failed for good.
    case settled(LoadRecord, CrawlProgress)
    case disallowed(CanonicalURL)
    case retrying(CanonicalURL, reason: String, attempt: Int, after: Duration)
    case ended(CrawlSummary)
}

/// Takes events one at a time, in order; must not take long.
protocol CrawlObserver: Sendable {
    func observe(_ event: CrawlEvent)
}

struct CrawlProgress: Sendable {
    var done = 0
    /// Done, in flight and queued.
    var known = 0
    var bytes = 0
    var elapsed: TimeInterval = 0
}

/// How a crawl stands at its end; counts include earlier runs that this one continued.
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
    /// Answered by the archive rather than the network, in this run.
    var fromArchive = 0
    /// Answered by the network, in this run.
    var fromNetwork = 0
    var broken = 0
    var failed = 0
    var disallowed = 0
    /// Known but not loaded, because of a limit or an interruption.
    var leftOver = 0
    /// Of this run.
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
