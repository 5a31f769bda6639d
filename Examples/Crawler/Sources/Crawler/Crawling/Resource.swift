import Foundation

/// One URL of a crawl and what became of it.
struct Resource: Sendable {
    /// How far a URL has come.
    ///
    /// The raw values stand in the journal.
    enum State: Int, Sendable {
        /// To be loaded; after a finished crawl, left over because of a limit.
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

        /// Found, but not wanted by the crawl's own rules.
        var isSkipped: Bool { self == .outside || self == .tooDeep || self == .excluded }
    }

    let id: Int
    let url: CanonicalURL
    var kind: LinkKind
    var depth: Int
    var state: State
}

/// What one load brought, as kept in the journal.
struct LoadRecord: Sendable {
    let id: Int
    let url: CanonicalURL
    var state: Resource.State
    var isPage = false
    var status: Int?
    var mimeType: String?
    var size = 0
    /// SHA-256 of the body, as it was delivered.
    var digest: Data?
    /// Where redirects led, when it is another URL.
    var finalURL: CanonicalURL?
    var error: String?
    var startedAt: Date
    var duration: TimeInterval
    var attempts: Int
    var isFromArchive = false
}
