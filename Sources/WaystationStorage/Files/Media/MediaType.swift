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

extension MediaType {
    /// The type for each known extension, in lower case.
    private static let essencesByExtension: [String: String] = Dictionary(
        extensionsByEssence.flatMap { essence, extensions in
            extensions.split(separator: " ").map { (String($0), essence) }
        },
        uniquingKeysWith: { first, _ in first }
    )

    /// The extensions of each type, grouped by the use of the files.
    ///
    /// The types are the registered ones (https://www.iana.org/assignments/media-types). An extension without a
    /// registered type has the type that browsers and servers agree on.
    package static let extensionsByEssence: [(essence: String, extensions: String)] = [
        // Pages and what runs in them
        ("text/html", "html htm shtml"),
        ("application/xhtml+xml", "xhtml xht"),
        ("multipart/related", "mht mhtml"),
        ("text/css", "css"),
        ("text/javascript", "js mjs cjs"),
        ("text/jsx", "jsx"),
        ("text/x-scss", "scss"),
        ("text/x-sass", "sass"),
        ("text/x-less", "less"),
        ("application/wasm", "wasm"),
        ("text/wgsl", "wgsl"),
        ("application/manifest+json", "webmanifest"),
        ("text/cache-manifest", "appcache"),
        ("application/x-shockwave-flash", "swf"),

        // Data
        ("application/json", "json map"),
        ("application/json5", "json5"),
        ("application/ld+json", "jsonld"),
        ("application/geo+json", "geojson"),
        ("application/x-ndjson", "ndjson jsonl"),
        ("application/schema+json", "jsonschema"),
        ("application/xml", "xml xsd rng"),
        ("application/xslt+xml", "xsl xslt"),
        ("application/xml-dtd", "dtd"),
        ("application/rss+xml", "rss"),
        ("application/atom+xml", "atom"),
        ("application/opensearchdescription+xml", "osdx"),
        ("application/mathml+xml", "mathml"),
        ("application/rdf+xml", "rdf"),
        ("text/turtle", "ttl"),
        ("application/gpx+xml", "gpx"),
        ("application/vnd.google-earth.kml+xml", "kml"),
        ("application/vnd.google-earth.kmz", "kmz"),
        ("application/yaml", "yaml yml"),
        ("application/toml", "toml"),
        ("application/sql", "sql"),
        ("application/vnd.sqlite3", "sqlite sqlite3 db3"),
        ("application/vnd.apache.parquet", "parquet"),
        ("application/cbor", "cbor"),
        ("application/protobuf", "pb"),
        ("text/csv", "csv"),
        ("text/tab-separated-values", "tsv"),

        // Text
        ("text/plain", "txt text log conf ini cfg diff patch"),
        ("text/markdown", "md markdown"),
        ("text/x-rst", "rst"),
        ("text/calendar", "ics"),
        ("text/vcard", "vcf vcard"),
        ("text/vtt", "vtt"),
        ("application/x-subrip", "srt"),
        ("application/rtf", "rtf"),
        ("application/x-tex", "tex"),
        ("application/x-sh", "sh"),
        ("text/x-python", "py"),
        ("text/x-c", "c h cc cpp hpp"),
        ("text/x-swift", "swift"),

        // Images
        ("image/svg+xml", "svg svgz"),
        ("image/png", "png"),
        ("image/apng", "apng"),
        ("image/jpeg", "jpg jpeg jpe jfif pjpeg"),
        ("image/gif", "gif"),
        ("image/webp", "webp"),
        ("image/avif", "avif"),
        ("image/jxl", "jxl"),
        ("image/heic", "heic"),
        ("image/heif", "heif"),
        ("image/jp2", "jp2"),
        ("image/x-icon", "ico cur"),
        ("image/bmp", "bmp"),
        ("image/tiff", "tif tiff"),
        ("image/ktx2", "ktx2"),
        ("image/vnd.adobe.photoshop", "psd"),

        // Fonts
        ("font/woff", "woff"),
        ("font/woff2", "woff2"),
        ("font/ttf", "ttf"),
        ("font/otf", "otf"),
        ("font/collection", "ttc"),
        ("application/vnd.ms-fontobject", "eot"),

        // Sound
        ("audio/mpeg", "mp3"),
        ("audio/mp4", "m4a"),
        ("audio/aac", "aac"),
        ("audio/ogg", "oga ogg opus spx"),
        ("audio/wav", "wav"),
        ("audio/flac", "flac"),
        ("audio/webm", "weba"),
        ("audio/midi", "mid midi"),
        ("audio/aiff", "aif aiff"),
        ("audio/amr", "amr"),

        // Moving pictures
        ("video/mp4", "mp4 m4v"),
        ("video/webm", "webm"),
        ("video/ogg", "ogv"),
        ("application/ogg", "ogx"),
        ("video/quicktime", "mov qt"),
        ("video/mpeg", "mpg mpeg"),
        // TypeScript sources end with `ts` too, but on the web the files loaded with this extension are the segments of
        // HLS.
        ("video/mp2t", "ts m2ts"),
        ("video/iso.segment", "m4s"),
        ("video/x-matroska", "mkv"),
        ("video/x-msvideo", "avi"),
        ("video/x-flv", "flv"),
        ("video/3gpp", "3gp"),
        ("video/3gpp2", "3g2"),
        ("application/vnd.apple.mpegurl", "m3u8"),
        ("audio/x-mpegurl", "m3u"),
        ("application/dash+xml", "mpd"),

        // Models
        ("model/gltf-binary", "glb"),
        ("model/gltf+json", "gltf"),
        ("model/obj", "obj"),
        ("model/stl", "stl"),
        ("model/vnd.usdz+zip", "usdz"),

        // Documents
        ("application/pdf", "pdf"),
        ("application/postscript", "ps eps ai"),
        ("application/epub+zip", "epub"),
        ("application/vnd.amazon.ebook", "azw"),
        ("application/msword", "doc dot"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
        ("application/vnd.ms-excel", "xls"),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
        ("application/vnd.ms-powerpoint", "ppt"),
        ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
        ("application/vnd.oasis.opendocument.text", "odt"),
        ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
        ("application/vnd.oasis.opendocument.presentation", "odp"),

        // Archives and programs
        ("application/zip", "zip"),
        ("application/gzip", "gz tgz"),
        ("application/x-tar", "tar"),
        ("application/x-bzip2", "bz2 tbz2"),
        ("application/x-xz", "xz txz"),
        ("application/x-7z-compressed", "7z"),
        ("application/vnd.rar", "rar"),
        ("application/x-brotli", "br"),
        ("application/zstd", "zst"),
        ("application/java-archive", "jar"),
        ("application/vnd.android.package-archive", "apk"),
        ("application/vnd.debian.binary-package", "deb"),
        ("application/x-rpm", "rpm"),
        ("application/x-apple-diskimage", "dmg"),
        ("application/vnd.microsoft.portable-executable", "exe dll"),
        ("application/pgp-signature", "sig asc"),
        ("application/x-x509-ca-cert", "crt cer pem der"),
        ("application/x-bittorrent", "torrent"),
        ("application/octet-stream", "bin dat iso img pak data"),
    ]
}
