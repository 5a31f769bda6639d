/// A log of HTTP exchanges in the form of HAR 1.2, as browsers' developer tools save it.
///
/// ```swift
/// let archive = try HARArchive(contentsOf: file)
/// for entry in archive.entries { print(entry.request.method, entry.request.url, entry.response.status) }
/// ```
///
/// Reading is tolerant: unknown members are ignored, and of what may be missing only method and URL of a request are
/// needed. Writing gives every member that HAR 1.2 asks for. Names of members are HAR's own; what HAR does not have
/// begins with `_`, as it asks for.
public struct HARArchive: Sendable, Hashable {
    /// The version that is written; 1.1 to 1.3 are read.
    public static let version = "1.2"

    /// What made the log.
    public var creator: Creator
    /// The exchanges, in the order of their beginning.
    public var entries: [Entry]
    /// A remark.
    public var comment: String?

    /// A log.
    public init(creator: Creator = .waystation, entries: [Entry] = [], comment: String? = nil) {
        self.creator = creator
        self.entries = entries
        self.comment = comment
    }

    /// Name and version of a program.
    public struct Creator: Sendable, Hashable, Codable {
        /// The program's name.
        public var name: String
        /// Its version.
        public var version: String

        /// A program.
        public init(name: String, version: String) {
            self.name = name
            self.version = version
        }

        /// This library.
        public static let waystation = Creator(name: "Waystation", version: SoftwareVersion.current)
    }

    /// A field, query item or form item.
    public struct Pair: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// A pair.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A cookie; attributes other than these are in the fields.
    public struct Cookie: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
        /// The path of a cookie that is set.
        public var path: String?
        /// The domain of a cookie that is set.
        public var domain: String?
        /// Whether scripts cannot see it.
        public var httpOnly: Bool?
        /// Whether it goes over TLS alone.
        public var secure: Bool?

        /// A cookie.
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
