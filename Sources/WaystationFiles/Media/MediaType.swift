public import Foundation

/// The media type of a file: the values of its `Content-Type` and `Content-Encoding`.
public struct MediaType: Sendable, Hashable, CustomStringConvertible {
    /// Type and subtype in lower case, such as `text/html`.
    public let essence: String
    /// The value of the `charset` parameter, or `nil` when the type has none.
    public let charset: String?
    /// The value of `Content-Encoding`, or `nil`: `gzip` for `.svgz`, which is an SVG in a gzip stream.
    public let contentEncoding: String?

    /// Describes a media type.
    public init(essence: String, charset: String? = nil, contentEncoding: String? = nil) {
        self.essence = essence
        self.charset = charset
        self.contentEncoding = contentEncoding
    }

    /// The value of `Content-Type`, such as `text/html; charset=utf-8`.
    public var fieldValue: String {
        guard let charset else { return essence }
        return "\(essence); charset=\(charset)"
    }

    /// The value of `Content-Type`.
    public var description: String { fieldValue }

    /// The number of bytes of a file that are enough to determine its type (the WHATWG MIME Sniffing standard, section
    /// 5.2).
    public static let leadingByteCount = 1445

    /// Determines the media type of a file by its name, or by its bytes if the name is not sufficient.
    ///
    /// The name decides if the text after its last dot is in the table, in upper or lower case; then the bytes are only
    /// used for the charset. Otherwise the bytes decide, by the WHATWG MIME Sniffing standard.
    ///
    /// A charset is given for text that a reader could misread without it (`text/*` except XML, which declares its own;
    /// JSON and SVG need none): `utf-16` when the bytes begin with its byte order mark (RFC 2781 section 3.3), `utf-8`
    /// when they are valid UTF-8, and none otherwise, which leaves the decision to `<meta charset>` and similar
    /// declarations.
    ///
    /// - Parameters:
    ///   - name: The file's name, or a path that ends with it.
    ///   - bytes: The first bytes of the file, ``leadingByteCount`` of them or fewer. A character that is cut at their
    ///     end still counts as valid UTF-8.
    ///   - restIsUTF8: Whether the whole file is valid UTF-8 together with the bytes that follow.
    /// - Returns: The type; `text/plain` or `application/octet-stream` when no more specific type is known.
    public static func mediaType(
        forFileName name: String,
        leadingBytes bytes: Data,
        restIsUTF8: Bool = true
    ) -> MediaType {
        let known = essence(forFileName: name)
        let essence = known ?? Sniffer(bytes.prefix(leadingByteCount)).essence
        return MediaType(
            essence: essence,
            charset: hasCharset(essence) ? charset(of: bytes, restIsUTF8: restIsUTF8) : nil,
            contentEncoding: known != nil && pathExtension(of: name) == "svgz" ? "gzip" : nil
        )
    }

    /// The type that the table has for a file's name, or `nil` when the table has none.
    public static func essence(forFileName name: String) -> String? {
        pathExtension(of: name).flatMap { essencesByExtension[$0] }
    }

    /// The text after the last dot of the last name, in lower case; `gz` for `a.tar.gz`, `css` for `.css`.
    private static func pathExtension(of name: String) -> String? {
        let last = name.utf8.lastIndex(of: UInt8(ascii: "/")).map { name[$0...].dropFirst() } ?? name[...]
        guard let dot = last.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        return last[dot...].dropFirst().lowercased()
    }

    private static func hasCharset(_ essence: String) -> Bool {
        essence.hasPrefix("text/") && essence != "text/xml"
    }

    private static func charset(of bytes: Data, restIsUTF8: Bool) -> String? {
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) { return "utf-16" }
        var text = UTF8Validator()
        text.take(bytes)
        return restIsUTF8 && text.isValid ? "utf-8" : nil
    }
}
