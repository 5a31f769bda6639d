import Foundation
import WaystationArchive
import WaystationFields

/// Removes content codings from a body (RFC 9110 §8.4.1).
enum ContentCoding {
    /// Returns the body without the codings in a field's value.
    ///
    /// - Throws: ``ImportRefusal`` for an unsupported coding, for damaged data, and for a body larger than `limit`.
    static func decode(_ body: Data, _ field: String, limit: Int) throws(ImportRefusal) -> Data {
        let codings = field.lowercased().split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        guard codings.count <= 8 else { throw ImportRefusal(.contentCoding, "it has \(codings.count) content codings") }
        var body = body
        // The last coding in the field was applied last.
        for coding in codings.reversed() {
            switch coding {
            case "", "identity": break
            case "gzip", "x-gzip": body = try inflate(body, .gzip, coding, limit)
            case "deflate":
                // The coding is defined with zlib's framing, but some servers send none.
                let isFramed =
                    body.count >= 2 && body.first.map { $0 & 0x0F == 8 } ?? false
                    && (Int(body[body.startIndex]) << 8 | Int(body[body.startIndex + 1])).isMultiple(of: 31)
                body = try inflate(body, isFramed ? .zlib : .none, coding, limit)
            default:
                throw ImportRefusal(
                    .contentCoding,
                    "the content coding of the body is \(coding.shown(upTo: 20)), but only gzip and deflate are supported"
                )
            }
        }
        return body
    }

    private static func inflate(
        _ data: Data,
        _ framing: Inflater.Framing,
        _ coding: String,
        _ limit: Int
    ) throws(ImportRefusal) -> Data {
        if data.isEmpty { return data }
        do {
            return try Inflater.decompress(data, framing, limit: limit)
        } catch Inflater.Refusal.damaged {
            throw ImportRefusal(.damagedBody, "the \(coding) data of the body are damaged or cut off")
        } catch Inflater.Refusal.tooLarge {
            throw ImportRefusal(.tooLarge, "the body has more than \(limit) bytes without \(coding)")
        } catch {
            throw ImportRefusal(.damagedBody, "the \(coding) data of the body cannot be read: \(error)")
        }
    }
}
