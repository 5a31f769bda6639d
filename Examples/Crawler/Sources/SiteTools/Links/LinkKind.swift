public import WaystationHTTP

/// The purpose of a link, which decides how far it is followed.
///
/// The raw values do not change, so a database may store them.
public enum LinkKind: Int, Sendable, CaseIterable {
    case start = 0
    /// `a`, `area`, most `link` relations.
    case page = 1
    /// `meta http-equiv=refresh`.
    case refresh = 2
    /// The target of a redirect.
    case redirect = 3
    /// Named by a sitemap.
    case listed = 4
    /// A sitemap that robots.txt or another sitemap names.
    case sitemap = 5
    /// `/sitemap.xml`, tried without a link to it; its absence is not reported.
    case sitemapGuess = 6
    case frame = 7
    case stylesheet = 8
    case script = 9
    case image = 10
    case media = 11
    /// `object`, `embed`.
    case object = 12
    /// A URL in a style sheet's `url()`: an image or a font.
    case style = 13
    /// A preloaded file or a manifest.
    case asset = 14

    /// Whether the page cannot be shown without it; then it is loaded from any host and does not add to the depth.
    public var isRequisite: Bool {
        switch self {
        case .frame, .stylesheet, .script, .image, .media, .object, .style, .asset: true
        default: false
        }
    }

    /// Whether the target is read as a sitemap.
    public var isSitemap: Bool { self == .sitemap || self == .sitemapGuess }

    /// The kind in words for people, such as `style sheet`.
    public var name: String {
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

/// A reference of a document, resolved.
public struct FoundLink: Hashable, Sendable {
    /// The target, without a fragment.
    public let url: CanonicalURL
    /// The kind of the reference.
    public let kind: LinkKind
    /// The encoding that the target has if nothing else states one, by its name in the WHATWG Encoding standard: style
    /// sheets, and frames of the same origin, take that of the document.
    ///
    /// Nil for links of other kinds.
    public let charset: String?

    /// Makes a link.
    public init(url: CanonicalURL, kind: LinkKind, charset: String? = nil) {
        self.url = url
        self.kind = kind
        self.charset = charset
    }
}
