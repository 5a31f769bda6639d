/// What a link is for, which decides how far it is followed.
enum LinkKind: Int, Sendable, CaseIterable {
    case start = 0
    /// `a`, `area`, most `link` relations.
    case page = 1
    /// `meta http-equiv=refresh`.
    case refresh = 2
    /// Where a redirect ended.
    case redirect = 3
    /// Named by a sitemap.
    case listed = 4
    /// A sitemap that robots.txt or another sitemap names.
    case sitemap = 5
    /// `/sitemap.xml`, tried without being named; its absence is nothing to report.
    case sitemapGuess = 6
    case frame = 7
    case stylesheet = 8
    case script = 9
    case image = 10
    case media = 11
    /// `object`, `embed`.
    case object = 12
    /// What a style sheet names by `url()`: images and fonts.
    case style = 13
    /// Preloaded things, manifests.
    case asset = 14

    /// Needed to show the page that names it, so it is loaded wherever it lies and costs no depth.
    var isRequisite: Bool {
        switch self {
        case .frame, .stylesheet, .script, .image, .media, .object, .style, .asset: true
        default: false
        }
    }

    var isSitemap: Bool { self == .sitemap || self == .sitemapGuess }

    var name: String {
        switch self {
        case .start: "start"
        case .page: "link"
        case .refresh: "refresh"
        case .redirect: "redirect"
        case .listed: "sitemap entry"
        case .sitemap, .sitemapGuess: "sitemap"
        case .frame: "frame"
        case .stylesheet: "style sheet"
        case .script: "script"
        case .image: "image"
        case .media: "media"
        case .object: "object"
        case .style: "style url"
        case .asset: "asset"
        }
    }
}

/// A reference as found in a document, resolved.
struct FoundLink: Hashable, Sendable {
    let url: CanonicalURL
    let kind: LinkKind
}
