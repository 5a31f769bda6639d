import Foundation
import WaystationArchive
import WaystationHTTP

/// Removes content codings from a body (RFC 9110 §8.4.1).
enum ContentCoding {
    /// Returns the body without the codings in a field's value.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - field: The value of `Content-Encoding`.
    ///   - limit: The largest number of bytes without a coding.
    ///   - brotli: The library that decodes `br`; nil, the default, if that coding is refused.
    /// - Returns: The body.
    /// - Throws: ``ImportRefusal`` for an unsupported coding, for damaged data, and for a body larger than `limit`.
    static func decode(
        _ body: Data,
        _ field: String,
        limit: Int,
        brotli: BrotliLibrary? = nil
    ) throws(ImportRefusal) -> Data {
        let codings = ContentCodings([field]).names
        guard codings.count <= 8 else { throw ImportRefusal(.contentCoding, "it has \(codings.count) content codings") }
        var body = body
        // The last coding in the field was applied last.
        for coding in codings.reversed() {
            switch coding {
            case "gzip", "x-gzip": body = try inflate(body, .gzip, coding, limit)
            case "deflate":
                // The coding is defined with zlib's framing, but some servers send none.
                let isFramed =
                    body.count >= 2 && body.first.map { $0 & 0x0F == 8 } ?? false
                    && (Int(body[body.startIndex]) << 8 | Int(body[body.startIndex + 1])).isMultiple(of: 31)
                body = try inflate(body, isFramed ? .zlib : .none, coding, limit)
            case "br":
                guard let brotli else { throw unsupported(coding) }
                guard !body.isEmpty else { break }
                let packed = body
                body = try decoded(coding, limit) { try BrotliDecoder.decompress(packed, brotli, limit: limit) }
            default: throw unsupported(coding)
            }
        }
        return body
    }

    private static func unsupported(_ coding: String) -> ImportRefusal {
        ImportRefusal(
            .contentCoding,
            "the content coding of the body is \(coding.shown(upTo: 20)), but only gzip and deflate are supported, and in a HAR "
                + "also br if libbrotli is installed"
        )
    }

    private static func inflate(
        _ data: Data,
        _ framing: Inflater.Framing,
        _ coding: String,
        _ limit: Int
    ) throws(ImportRefusal) -> Data {
        if data.isEmpty { return data }
        return try decoded(coding, limit) { try Inflater.decompress(data, framing, limit: limit) }
    }

    /// The result of a decoder, whose errors become reasons.
    private static func decoded(
        _ coding: String,
        _ limit: Int,
        _ decompress: () throws -> Data
    ) throws(ImportRefusal) -> Data {
        do {
            return try decompress()
        } catch Inflater.Refusal.damaged {
            throw ImportRefusal(.damagedBody, "the \(coding) data of the body are damaged or cut off")
        } catch Inflater.Refusal.tooLarge {
            throw ImportRefusal(.tooLarge, "the body has more than \(limit) bytes without \(coding)")
        } catch {
            throw ImportRefusal(.damagedBody, "the \(coding) data of the body cannot be read: \(error)")
        }
    }
}
