/// A log of HTTP exchanges in HAR 1.2 format, as browsers' developer tools save it.
///
/// ```swift
/// let archive = try HARArchive(contentsOf: file)
/// for entry in archive.entries { print(entry.request.method, entry.request.url, entry.response.status) }
/// ```
///
/// Reading is tolerant: unknown members are ignored, and of a request only the method and the URL are required. Writing
/// includes every member that HAR 1.2 requires. Members have the names of HAR; members that HAR does not define begin
/// with `_`, as it requires.
public struct HARArchive: Sendable, Hashable {
    /// The version that is written; versions 1.1 to 1.3 can be read.
    public static let version = "1.2"

    /// The program that made the log.
    public var creator: Creator
    /// The exchanges, ordered by when they began.
    public var entries: [Entry]
    /// A comment.
    public var comment: String?

    /// Makes a log.
    public init(creator: Creator = .waystation, entries: [Entry] = [], comment: String? = nil) {
        self.creator = creator
        self.entries = entries
        self.comment = comment
    }

    /// The name and version of a program.
    public struct Creator: Sendable, Hashable, Codable {
        /// The program's name.
        public var name: String
        /// The program's version.
        public var version: String

        /// Makes a creator.
        public init(name: String, version: String) {
            self.name = name
            self.version = version
        }

        /// This library.
        public static let waystation = Creator(name: "Waystation", version: SoftwareVersion.current)
    }

    /// A header field, query item or form item.
    public struct Pair: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Makes a pair.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A cookie; other attributes are only in the header fields.
    public struct Cookie: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
        /// The path of a cookie that is set.
        public var path: String?
        /// The domain of a cookie that is set.
        public var domain: String?
        /// Whether the cookie is hidden from scripts.
        public var httpOnly: Bool?
        /// Whether the cookie is sent over TLS only.
        public var secure: Bool?

        /// Makes a cookie.
        public init(
            name: String,
            value: String,
            path: String? = nil,
            domain: String? = nil,
            httpOnly: Bool? = nil,
            secure: Bool? = nil
        ) {
            self.name = name
            self.value = value
            self.path = path
            self.domain = domain
            self.httpOnly = httpOnly
            self.secure = secure
        }
    }
}
