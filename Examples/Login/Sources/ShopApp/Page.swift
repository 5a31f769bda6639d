public import Foundation

/// A page with everything that it is shown with.
public struct Page: Sendable {
    /// Something that was loaded.
    public struct Resource: Sendable {
        /// Where it was found, after redirects.
        public let url: URL
        /// The status.
        public let status: Int
        /// Whether Waystation had it stored, by `Cache-Status` (RFC 9211).
        public let isFromCache: Bool
        /// The bytes.
        public let body: Data
    }

    /// The page itself.
    public let resource: Resource
    /// Its text.
    public let html: String
    /// Where it links to, in order.
    public let links: [URL]
    /// Its style sheets, scripts and pictures.
    public let files: [Resource]

    /// Whether the page and all its files arrived.
    public var isWhole: Bool { ([resource] + files).allSatisfy { $0.status == 200 } }

    /// Whether everything came out of the cache.
    public var isFromCache: Bool { ([resource] + files).allSatisfy(\.isFromCache) }
}
