import Foundation
import FoundationXML

/// Reads sitemaps (sitemaps.org): XML, an index of further sitemaps, or plain text with one URL a line, each of them
/// optionally gzipped.
enum SitemapParser {
    struct Entries: Equatable {
        var pages: [String] = []
        var sitemaps: [String] = []
    }

    /// The protocol's limit for one file, uncompressed.
    static let sizeLimit = 50 << 20

    /// The entries of a file; `charset` is the label in the response's `Content-Type`.
    static func entries(in body: Data, charset: String? = nil) -> Entries {
        guard let plain = body.starts(with: [0x1F, 0x8B]) ? Gunzip.data(from: body, limit: sizeLimit) : body else {
            return Entries()
        }
        // The declaration of an XML document must be its first bytes.
        let xml = PageText(plain.drop { $0 <= 0x20 && $0 != 0 }, charset: charset, form: .xml).utf8
        var start = xml.drop { $0 <= 0x20 || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }
        guard start.first == UInt8(ascii: "<") else { return textEntries(plain, charset: charset) }
        // The text is UTF-8 now, whatever its declaration says.
        if start.starts(with: "<?xml".utf8), let end = start.firstRange(of: Array("?>".utf8)) {
            start = start[end.upperBound...]
        }
        let reader = Reader()
        let parser = XMLParser(data: Data(start))
        parser.shouldProcessNamespaces = true
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        // A sitemap that breaks off still gives the URLs before that.
        _ = parser.parse()
        return reader.entries
    }

    private static func textEntries(_ bytes: Data, charset: String?) -> Entries {
        let text = PageText(bytes, charset: charset, form: .plain).utf8
        let lines = String(decoding: text, as: UTF8.self).split { $0.isNewline }
        let urls = lines.map { $0.trimmingCharacters(in: .whitespaces) }
        return Entries(pages: urls.filter { $0.hasPrefix("http://") || $0.hasPrefix("https://") })
    }

    private final class Reader: NSObject, XMLParserDelegate {
        var entries = Entries()
        private var location: String?
        private var parents: [String] = []

        func parser(
            _ parser: XMLParser,
            didStartElement name: String,
            namespaceURI: String?,
            qualifiedName: String?,
            attributes: [String: String]
        ) {
            if name == "loc" { location = "" }
            parents.append(name)
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) {
            location?.append(string)
        }

        func parser(_ parser: XMLParser, foundCDATA block: Data) {
            location?.append(String(decoding: block, as: UTF8.self))
        }

        func parser(
            _ parser: XMLParser,
            didEndElement name: String,
            namespaceURI: String?,
            qualifiedName: String?
        ) {
            _ = parents.popLast()
            guard name == "loc", let text = location?.trimmingCharacters(in: .whitespacesAndNewlines) else { return }
            location = nil
            guard !text.isEmpty else { return }
            // Extensions have their own `loc` (`image:loc`); only these two parents belong to the protocol.
            switch parents.last {
            case "url": entries.pages.append(text)
            case "sitemap": entries.sitemaps.append(text)
            default: break
            }
        }
    }
}
