public import Foundation
public import WaystationHTTP

/// The references of a loaded document, as ``LinkExtractor`` finds them.
public struct ExtractedLinks: Sendable {
    /// The references in the order of the document, each once for each kind.
    public internal(set) var links: [FoundLink] = []
    /// Whether the document is an HTML page, as opposed to a part of one.
    public internal(set) var isPage = false
    /// Whether the page asks crawlers not to follow its links (`meta name=robots`); `links` still has its requisites.
    public internal(set) var isNofollow = false

    /// No references, as a document of another type has them.
    public init() {}

    init(isPage: Bool, isNofollow: Bool) {
        self.isPage = isPage
        self.isNofollow = isNofollow
    }
}

/// Finds the links of a document, with the parser for its type: HTML and SVG by Gumbo, CSS by a tokenizer, sitemaps by
/// Foundation's XML parser.
///
/// Damaged documents give the links that can be read; no input is an error.
public enum LinkExtractor {
    /// Whether bodies of this type may contain links; other bodies need not be kept in memory.
    public static func mayHoldLinks(mimeType: String) -> Bool {
        switch mimeType {
        case "", "text/html", "application/xhtml+xml", "text/css", "image/svg+xml", "application/octet-stream": true
        default: false
        }
    }

    /// Reads a document's links.
    ///
    /// - `body`: The document as it was received, without a content coding.
    /// - `mimeType`: In lower case, without parameters; empty if the server named none.
    /// - `charset`: The charset of `Content-Type`. Without one, the document's own declaration counts.
    /// - `url`: The document's URL after redirects, against which its references are resolved.
    /// - `kind`: The kind of the link that led to it: only a sitemap is read as a sitemap.
    public static func links(
        in body: Data,
        mimeType: String,
        charset: String?,
        url: CanonicalURL,
        kind: LinkKind
    ) -> ExtractedLinks {
        if kind.isSitemap {
            let entries = SitemapParser.entries(in: body)
            var extracted = ExtractedLinks()
            extracted.links =
                entries.sitemaps.compactMap { CanonicalURL($0, relativeTo: url) }.map {
                    FoundLink(url: $0, kind: .sitemap)
                }
                + entries.pages.compactMap { CanonicalURL($0, relativeTo: url) }.map {
                    FoundLink(url: $0, kind: .listed)
                }
            return extracted
        }
        switch mimeType {
        case "text/html", "application/xhtml+xml":
            return htmlLinks(in: body, charset: charset, url: url, isPage: true)
        case "image/svg+xml":
            return htmlLinks(in: body, charset: charset, url: url, isPage: false)
        case "text/css":
            return cssLinks(in: body, charset: charset, url: url)
        case "", "application/octet-stream":
            // A server that does not know the type leaves the decision to the client; HTML is recognised by its first
            // tag.
            guard looksLikeHTML(body) else { return ExtractedLinks() }
            return htmlLinks(in: body, charset: charset, url: url, isPage: true)
        default:
            return ExtractedLinks()
        }
    }

    private static func htmlLinks(in body: Data, charset: String?, url: CanonicalURL, isPage: Bool) -> ExtractedLinks {
        let html = PageText.utf8(body, charset: charset).withUnsafeBytes { bytes in
            HTMLLinks(html: bytes.bindMemory(to: UInt8.self))
        }
        let base = html.base.flatMap { CanonicalURL($0, relativeTo: url) } ?? url
        var extracted = ExtractedLinks(isPage: isPage, isNofollow: html.isNofollow)
        extracted.links = resolved(html.references.lazy.map { ($0.text, $0.kind) }, against: base)
        return extracted
    }

    private static func cssLinks(in body: Data, charset: String?, url: CanonicalURL) -> ExtractedLinks {
        let references = PageText.utf8(body, charset: charset).withUnsafeBytes { bytes in
            CSSURLs.references(in: bytes.bindMemory(to: UInt8.self))
        }
        var extracted = ExtractedLinks()
        extracted.links = resolved(references.lazy.map { ($0.url, $0.isImport ? .stylesheet : .style) }, against: url)
        return extracted
    }

    private static func resolved(
        _ references: some Sequence<(String, LinkKind)>,
        against base: CanonicalURL
    ) -> [FoundLink] {
        var seen: Set<FoundLink> = []
        return references.compactMap { text, kind in
            guard let url = CanonicalURL(text, relativeTo: base) else { return nil }
            let link = FoundLink(url: url, kind: kind)
            return seen.insert(link).inserted ? link : nil
        }
    }

    private static func looksLikeHTML(_ body: Data) -> Bool {
        let head = String(decoding: body.prefix(256), as: UTF8.self).lowercased().drop { $0.isWhitespace }
        return ["<!doctype html", "<html", "<head", "<body"].contains { head.hasPrefix($0) }
    }
}
