/// A file of a pack, as its manifest lists it.
public struct PackedFile: Hashable, Sendable {
    /// The path relative to the pack's root, with `/` between the names.
    public let path: String
    /// The length in bytes.
    public let size: Int
    /// The SHA-256 of the content, 64 hexadecimal digits in lower case.
    public let sha256: String
    /// The media type, such as `text/html; charset=utf-8`; nil when the name and the content show it.
    public let mediaType: String?

    /// Describes a file; the values are checked when the manifest is made.
    public init(path: String, size: Int, sha256: String, mediaType: String? = nil) {
        self.path = path
        self.size = size
        self.sha256 = sha256
        self.mediaType = mediaType
    }
}

extension PackedFile: Codable {}
