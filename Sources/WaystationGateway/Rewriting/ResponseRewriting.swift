#if Gateway
import NIOHTTP1

/// Decides whose bodies get their links rewritten, and what this changes in the fields of a request and a response.
struct ResponseRewriting: Sendable {
    let names: LocalNames
    /// Whether a rule takes a URL.
    let isServed: @Sendable (String) -> Bool

    /// The rewriter of a response's body; nil if the body stays as it is.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - fields: The fields.
    ///   - origin: The origin of the page.
    /// - Returns: The rewriter, at the start of the body.
    func rewriter(status: Int, _ fields: HTTPHeaders, of origin: OriginName) -> BodyRewriter? {
        // A part of a body can begin in the middle of a tag (206).
        guard ![204, 206, 304].contains(status), !Self.isDownload(fields), !Self.forbidsTransforming(fields),
            // The bytes are those of a content coding.
            !fields.contains(name: "Content-Encoding"),
            let type = fields.first(name: "Content-Type"), let kind = BodyRewriter.Kind(contentType: type)
        else { return nil }
        return BodyRewriter(kind, Links(names: names, scheme: origin.scheme, page: origin, isServed: isServed))
    }

    private static func isDownload(_ fields: HTTPHeaders) -> Bool {
        fields.first(name: "Content-Disposition")?.lowercased().hasPrefix("attachment") ?? false
    }

    /// Whether the origin asks for its bytes to stay as they are (RFC 9111 §5.2.2.6).
    private static func forbidsTransforming(_ fields: HTTPHeaders) -> Bool {
        fields[canonicalForm: "Cache-Control"].contains { $0.lowercased() == "no-transform" }
    }

    /// The fields that describe the bytes of the origin: their digests, and their validators.
    ///
    /// Two responses with the same validator have the same bytes, or bytes of the same meaning (RFC 9110 §8.8.1). The
    /// rewritten bytes also depend on the rules and on the gateway's port, which no validator of the origin includes.
    private static let dropped = [
        "ETag", "Last-Modified", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest", "Accept-Ranges",
    ]

    /// Makes the fields fit a rewritten body.
    static func adapt(_ fields: inout HTTPHeaders) {
        for name in dropped { fields.remove(name: name) }
        fields.add(name: "Accept-Ranges", value: "none")
    }

    /// The fields by which a browser asks whether its copy of a page or a style sheet is still right, in lower case.
    ///
    /// A copy with these validators is one from before the links were rewritten.
    static func conditions(of request: HTTPRequestHead) -> Set<String> {
        guard let destination = request.headers.first(name: "Sec-Fetch-Dest"), destinations.contains(destination) else {
            return []
        }
        return ["if-none-match", "if-modified-since"]
    }

    private static let destinations: Set<String> = ["document", "iframe", "frame", "object", "embed", "style"]
}
#endif
