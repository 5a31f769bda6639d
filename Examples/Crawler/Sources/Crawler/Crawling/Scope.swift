import Foundation
import SiteTools
import WaystationHTTP

/// The documents that a crawl loads from its start URLs on, and those that it leaves out.
struct Scope: Sendable {
    /// The pages that belong to the site.
    enum Breadth: String, Codable, Sendable, CaseIterable {
        /// Only the start pages.
        case page
        /// URLs below the directory of a start URL.
        case prefix
        /// The same scheme, host and port.
        case host
        /// The same host or one below it, with any scheme and port: `docs.example.org` for `www.example.org`.
        case domain
    }

    enum Verdict: Equatable, Sendable {
        case load
        /// The target belongs to another site, and is not wanted.
        case outside
        case tooDeep
        /// `--exclude` matches the URL, or no `--include` does.
        case excluded
    }

    /// The document in which a link was found.
    struct Finding: Sendable {
        /// The number of links from a start page.
        var depth: Int
        /// Whether the document belongs to the site; otherwise it was only loaded because a page of the site needs it.
        var isInside: Bool
        var isStylesheet = false
    }

    private let starts: [CanonicalURL]
    private let startSet: Set<CanonicalURL>
    private let breadth: Breadth
    private let depthLimit: Int?
    private let include: [Glob]
    private let exclude: [Glob]
    private let origins: Set<String>
    private let domains: [String]

    init(_ settings: CrawlSettings) {
        starts = settings.startURLs.compactMap { CanonicalURL(page: $0) }
        startSet = Set(starts)
        breadth = settings.scope
        depthLimit = settings.depth
        include = settings.include
        exclude = settings.exclude
        origins = Set(starts.map(\.origin))
        domains = starts.map { $0.host.hasPrefix("www.") ? String($0.host.dropFirst(4)) : String($0.host) }
    }

    /// Whether a page belongs to the site, regardless of its depth and the globs.
    func contains(_ url: CanonicalURL) -> Bool {
        switch breadth {
        case .page: startSet.contains(url)
        case .prefix: starts.contains { url.origin == $0.origin && url.path.hasPrefix($0.directory) }
        case .host: origins.contains { url.string.utf8.starts(with: $0.utf8) } && origins.contains(url.origin)
        case .domain: domains.contains { url.host == $0 || url.host.hasSuffix("." + $0) }
        }
    }

    /// The number of links between a start page and the target of such a link.
    ///
    /// Requisites have the depth of their page.
    func depth(of kind: LinkKind, from finding: Finding) -> Int {
        switch kind {
        case .page, .refresh, .listed: finding.depth + 1
        default: finding.depth
        }
    }

    /// Whether the target of a link is loaded.
    ///
    /// Requisites of the site's pages are loaded from any host. In documents outside the site, only the links of style
    /// sheets are followed, to the fonts and images without which they would be incomplete.
    func verdict(on link: FoundLink, from finding: Finding) -> Verdict {
        if link.kind == .start { return .load }
        if exclude.contains(where: { $0.matches(link.url.string) }) { return .excluded }
        if link.kind.isRequisite {
            return finding.isInside || finding.isStylesheet ? .load : .outside
        }
        if link.kind.isSitemap { return .load }
        guard finding.isInside, contains(link.url) else { return .outside }
        if startSet.contains(link.url) { return .load }
        if let depthLimit, depth(of: link.kind, from: finding) > depthLimit { return .tooDeep }
        if !include.isEmpty, !include.contains(where: { $0.matches(link.url.string) }) { return .excluded }
        return .load
    }
}
