import Foundation
import SiteTools
import WaystationHTTP

/// One URL of a crawl and its state.
struct Resource: Sendable {
    /// The progress of a URL.
    ///
    /// The raw values are stored in the journal.
    enum State: Int, Sendable {
        /// Waits to be loaded; after a finished crawl, left over because of a limit.
        case queued = 0
        /// Answered with 2xx.
        case loaded = 1
        /// Answered with an error status.
        case broken = 2
        /// Not answered at all.
        case failed = 3
        case disallowedByRobots = 4
        case outside = 5
        case tooDeep = 6
        case excluded = 7

        /// Whether the crawl's own rules leave it out.
        var isSkipped: Bool { self == .outside || self == .tooDeep || self == .excluded }
    }

    let id: Int
    let url: CanonicalURL
    var kind: LinkKind
    var depth: Int
    var state: State
    /// The encoding that the first link to it gives it if nothing else states one, see `FoundLink.charset`.
    var linkCharset: String?
}

/// The result of one load, as the journal stores it.
struct LoadRecord: Sendable {
    let id: Int
    let url: CanonicalURL
    var state: Resource.State
    var isPage = false
    var status: Int?
    var mimeType: String?
    var size = 0
    /// SHA-256 of the body, without content codings.
    var digest: Data?
    /// The URL after redirects, if it is another one.
    var finalURL: CanonicalURL?
    var error: String?
    var startedAt: Date
    var duration: TimeInterval
    var attempts: Int
    var isFromArchive = false
}
