public import Foundation
public import WaystationHTTP

/// The references of a loaded document, as ``LinkExtractor`` finds them.
public struct ExtractedLinks: Sendable {
    /// The references in the order of the document, each once for each kind.
    public var links: [FoundLink] = []
    /// Whether the document is an HTML page, as opposed to a part of one.
    public internal(set) var isPage = false
    /// Whether the page asks crawlers not to follow its links (`meta name=robots`); `links` still has its requisites.
    public internal(set) var isNofollow = false
    /// The reason why characters outside ASCII were lost, in words, such as an encoding for which the system has no
    /// table; nil if all were read.
    public internal(set) var problem: String?

    /// No references, as a document of another type has them.
    public init() {}

    init(isPage: Bool = false, isNofollow: Bool = false, problem: String?) {
        self.isPage = isPage
        self.isNofollow = isNofollow
        self.problem = problem
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
        case "", "text/html", "application/xhtml+xml", "text/css", "image/svg+xml", "application/octet-stream",
            "application/xml", "text/xml":
            true
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
    /// - `linkCharset`: The encoding that this link gives to a document without one, see ``FoundLink/charset``.
    public static func links(
        in body: Data,
        mimeType: String,
        charset: String?,
        url: CanonicalURL,
        kind: LinkKind,
        linkCharset: String? = nil
    ) -> ExtractedLinks {
        if kind.isSitemap {
            let entries = SitemapParser.entries(in: body, charset: charset)
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
        let parent = linkCharset.flatMap { WebEncoding(label: $0) }
        func text(_ form: PageText.Form) -> PageText {
            PageText(body, charset: charset, form: form, parent: parent)
        }
        switch mimeType {
        case "text/html":
            return htmlLinks(in: text(.html), of: body, url: url, isPage: true)
        case "application/xhtml+xml":
            return htmlLinks(in: text(.xml), of: body, url: url, isPage: true)
        case "image/svg+xml":
            return htmlLinks(in: text(.xml), of: body, url: url, isPage: false)
        case "application/xml", "text/xml":
            // The namespace of its elements tells what the document is.
            let start = PageText(body.prefix(1024), charset: charset, form: .xml).utf8
            let isPage = start.firstRange(of: Array("http://www.w3.org/1999/xhtml".utf8)) != nil
            guard isPage || start.firstRange(of: Array("http://www.w3.org/2000/svg".utf8)) != nil else {
                return ExtractedLinks()
            }
            return htmlLinks(in: text(.xml), of: body, url: url, isPage: isPage)
        case "text/css":
            return cssLinks(in: text(.css), url: url)
        case "", "application/octet-stream":
            // A server that does not know the type leaves the decision to the client; HTML is recognised by its first
            // tag.
            guard looksLikeHTML(PageText(body.prefix(512), charset: charset, form: .html).utf8) else {
                return ExtractedLinks()
            }
            return htmlLinks(in: text(.html), of: body, url: url, isPage: true)
        default:
            return ExtractedLinks()
        }
    }

    /// The link in the field `Refresh` of a page's response, such as `5; url=next.html`; nil if the page only reloads
    /// itself.
    ///
    /// - `field`: The value of the field.
    /// - `url`: The page's URL after redirects.
    public static func refresh(field: String, url: CanonicalURL) -> FoundLink? {
        MetaRefresh.url(in: field).flatMap { CanonicalURL($0, relativeTo: url) }.map {
            FoundLink(url: $0, kind: .refresh)
        }
    }

    private static func htmlLinks(in text: PageText, of body: Data, url: CanonicalURL, isPage: Bool) -> ExtractedLinks {
        var text = text
        var html = parsed(text.utf8)
        // A `meta` element after the first 1024 bytes: the page is read again, as browsers do (HTML, "changing the
        // encoding while parsing").
        // Text in UTF-16 could not be read as such if it were in another encoding.
        let isUTF16 = text.encoding == .utf16LE || text.encoding == .utf16BE
        if text.confidence != .certain, !isUTF16, let encoding = html.encoding, encoding != text.encoding {
            text = PageText(body, in: encoding)
            html = parsed(text.utf8)
        }
        var extracted = ExtractedLinks(isPage: isPage, isNofollow: html.isNofollow, problem: text.problem)
        // The encoding of a page that states none is often that of its ASCII part alone, and says nothing about frames.
        var links = ResolvedLinks(origin: url.origin, framesInherit: text.confidence != .guessed)
        let base = links.append(html, in: text.encoding, url: url)
        // A page within an attribute has been decoded with the attribute, and its queries are sent in UTF-8. Its
        // references are relative to those of the page around it.
        var pages = html.srcdocs.map { (text: $0, base: base, depth: 1) }[...]
        while let page = pages.popFirst() {
            let html = parsed(Data(page.text.utf8))
            let base = links.append(html, in: .utf8, url: page.base)
            guard page.depth < srcdocDepth else { continue }
            pages += html.srcdocs.map { (text: $0, base: base, depth: page.depth + 1) }
        }
        extracted.links = links.links
        return extracted
    }

    /// The number of pages within one another in `srcdoc` attributes that are read, so that a hostile page does not
    /// have as many as it has bytes.
    private static let srcdocDepth = 4

    private static func parsed(_ html: Data) -> HTMLLinks {
        html.withUnsafeBytes { HTMLLinks(html: $0.bindMemory(to: UInt8.self)) }
    }

    private static func cssLinks(in text: PageText, url: CanonicalURL) -> ExtractedLinks {
        let references = text.utf8.withUnsafeBytes { CSSURLs.references(in: $0.bindMemory(to: UInt8.self)) }
        var extracted = ExtractedLinks(problem: text.problem)
        var links = ResolvedLinks(origin: url.origin, framesInherit: false)
        for reference in references {
            links.append(
                reference.url,
                reference.kind,
                in: text.encoding,
                queryEncoding: reference.isImport ? .utf8 : text.encoding,
                base: url
            )
        }
        extracted.links = links.links
        return extracted
    }

    private static func looksLikeHTML(_ text: Data) -> Bool {
        let head = String(decoding: text.prefix(256), as: UTF8.self).lowercased().drop { $0.isWhitespace }
        return ["<!doctype html", "<html", "<head", "<body"].contains { head.hasPrefix($0) }
    }
}

/// The references of a document as links, each once for each kind.
private struct ResolvedLinks {
    /// The origin of the document.
    let origin: String
    /// Whether frames of this origin take the encoding of the document.
    let framesInherit: Bool
    private(set) var links: [FoundLink] = []
    private var seen: Set<FoundLink> = []

    init(origin: String, framesInherit: Bool) {
        self.origin = origin
        self.framesInherit = framesInherit
    }

    /// Resolves the references of a page.
    ///
    /// - Returns: The URL against which they are resolved.
    mutating func append(_ html: HTMLLinks, in encoding: WebEncoding, url: CanonicalURL) -> CanonicalURL {
        let base = html.base.flatMap { CanonicalURL($0, relativeTo: url, encoding: encoding) } ?? url
        for reference in html.references {
            append(
                reference.text,
                reference.kind,
                in: encoding,
                queryEncoding: reference.hasUTF8Query ? .utf8 : encoding,
                base: base
            )
        }
        return base
    }

    /// - `encoding`: The encoding of the document.
    /// - `queryEncoding`: The encoding in which the reference's query is sent.
    mutating func append(
        _ reference: String,
        _ kind: LinkKind,
        in encoding: WebEncoding,
        queryEncoding: WebEncoding,
        base: CanonicalURL
    ) {
        guard let url = CanonicalURL(reference, relativeTo: base, encoding: queryEncoding) else { return }
        let inherits = kind == .stylesheet || (kind == .frame && framesInherit && url.origin == origin)
        let link = FoundLink(url: url, kind: kind, charset: inherits ? encoding.asParent.rawValue : nil)
        if seen.insert(link).inserted { links.append(link) }
    }
}
