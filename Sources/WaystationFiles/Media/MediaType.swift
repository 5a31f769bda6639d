public import Foundation

/// The media type of a file: what `Content-Type` and `Content-Encoding` say about it.
public struct MediaType: Sendable, Hashable, CustomStringConvertible {
    /// Type and subtype in lower case, as `text/html`.
    public let essence: String
    /// The value of the `charset` parameter, or `nil` when none is claimed.
    public let charset: String?
    /// The value of `Content-Encoding`, or `nil`: `gzip` for `.svgz`, which is an SVG in a gzip stream.
    public let contentEncoding: String?

    /// Describes a media type.
    public init(essence: String, charset: String? = nil, contentEncoding: String? = nil) {
        self.essence = essence
        self.charset = charset
        self.contentEncoding = contentEncoding
    }

    /// The value of `Content-Type`, as `text/html; charset=utf-8`.
    public var fieldValue: String {
        guard let charset else { return essence }
        return "\(essence); charset=\(charset)"
    }

    /// The value of `Content-Type`.
    public var description: String { fieldValue }

    /// How many bytes of a file are enough to tell its type (the WHATWG MIME Sniffing standard, section 5.2).
    public static let leadingByteCount = 1445

    /// Tells the media type of a file by its name, or by its bytes when the name does not.
    ///
    /// The name decides when what follows its last dot is in the table, in any case; the bytes are then only looked at
    /// for the charset. Otherwise the bytes decide, by the WHATWG MIME Sniffing standard.
    ///
    /// A charset is claimed for text that a reader could get wrong without it (`text/*` except XML, which names its own;
    /// JSON and SVG have none): `utf-16` when the bytes begin with its byte order mark (RFC 2781 section 3.3), `utf-8`
    /// when they are valid UTF-8, and none otherwise, which leaves the word to `<meta charset>` and its like.
    ///
    /// - Parameters:
    ///   - name: The file's name, or a path that ends with it.
    ///   - bytes: The first bytes of the file, ``leadingByteCount`` of them or fewer. A character cut at their end does
    ///     not count against UTF-8.
    ///   - restIsUTF8: Whether the bytes that follow keep the whole file UTF-8.
    /// - Returns: The type; `text/plain` or `application/octet-stream` when nothing more is known.
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

    /// The type that the table has for a file's name, or `nil` when it has none.
    public static func essence(forFileName name: String) -> String? {
        pathExtension(of: name).flatMap { essencesByExtension[$0] }
    }

    /// What follows the last dot of the last name, in lower case; `gz` for `a.tar.gz`, `css` for `.css`.
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
