public import Foundation

/// A page with all the files that it needs.
public struct Page: Sendable {
    /// A page or file that was loaded.
    public struct Resource: Sendable {
        /// Its URL after redirects.
        public let url: URL
        /// The status.
        public let status: Int
        /// Whether Waystation answered from the cache, by `Cache-Status` (RFC 9211).
        public let isFromCache: Bool
        /// The bytes.
        public let body: Data
    }

    /// The page itself.
    public let resource: Resource
    /// The text of the page.
    public let html: String
    /// The URLs that the page links to, in order.
    public let links: [URL]
    /// The page's style sheets, scripts and pictures.
    public let files: [Resource]

    /// Whether the page and all its files were answered with 200.
    public var isWhole: Bool { ([resource] + files).allSatisfy { $0.status == 200 } }

    /// Whether the page and all its files came from the cache.
    public var isFromCache: Bool { ([resource] + files).allSatisfy(\.isFromCache) }
}
