/// A file of a pack, as its manifest lists it.
public struct PackedFile: Hashable, Sendable {
    /// The path relative to the pack's root, names with `/` between them.
    public let path: String
    /// Its length in bytes.
    public let size: Int
    /// The SHA-256 of its content, 64 hexadecimal digits in lower case.
    public let sha256: String
    /// Its media type, such as `text/html; charset=utf-8`; nil when name and content tell.
    public let mediaType: String?

    /// Describes a file; what it says is checked where the manifest is made.
    public init(path: String, size: Int, sha256: String, mediaType: String? = nil) {
        self.path = path
        self.size = size
        self.sha256 = sha256
        self.mediaType = mediaType
    }
}

extension PackedFile: Codable {}
