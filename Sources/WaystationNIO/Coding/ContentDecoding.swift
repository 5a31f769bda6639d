#if NIO
import WaystationArchive
import WaystationFields

/// Makes decoders for content codings (RFC 9110 §8.4.1).
enum ContentDecoding {
    /// The largest number of codings of one body that are removed.
    ///
    /// Real bodies have one; each costs memory.
    static let maximumCount = 3

    /// The codings that can be removed, in the order in which `Accept-Encoding` offers them.
    ///
    /// `br` and `zstd` are included when their C libraries are installed.
    static var available: [String] {
        var codings = ["deflate", "gzip"]
        if BrotliLibrary.shared != nil { codings.append("br") }
        if ZstandardLibrary.shared != nil { codings.append("zstd") }
        return codings
    }

    /// Makes the decoder of a body.
    ///
    /// - Parameters:
    ///   - codings: The names in `Content-Encoding`, in the order in which the server applied them.
    ///   - limits: The limits on the decoded size.
    /// - Returns: The decoder, or nil if a coding is unknown, its library is missing, there are more than three, or
    ///   nothing is to be decoded.
    static func make(for codings: [String], limits: DecodingLimits) -> (any ContentDecoder)? {
        let names = ContentCodings(codings).names
        guard !names.isEmpty, names.count <= maximumCount else { return nil }
        var stages: [DecodingStage] = []
        // The coding that was applied last is removed first.
        for name in names.reversed() {
            guard let codec = codec(name) else { return nil }
            stages.append(DecodingStage(codec))
        }
        return StagedDecoder(stages, limits: limits)
    }

    private static func codec(_ name: String) -> (any Codec)? {
        switch name {
        // RFC 9110 §8.4.1.3: x-gzip is the same as gzip.
        case "gzip", "x-gzip": ZlibCodec(.gzip)
        case "deflate": ZlibCodec(.deflate)
        case "br": BrotliLibrary.shared.flatMap(BrotliCodec.init)
        case "zstd": ZstandardLibrary.shared.flatMap(ZstandardCodec.init)
        default: nil
        }
    }
}
#endif
