import Foundation
import WaystationTesting

/// A file that is served as RFC 9110 §14 requires; tests change the answers that should be wrong.
struct ServedFile: Sendable {
    var bytes: Data
    var entityTag: String? = "\"v1\""
    var knowsRanges = true

    /// The whole answer.
    func answer(to request: ScriptedOrigin.Request) -> ScriptedOrigin.Response {
        let (status, fields, body) = parts(for: request)
        return .stream([.bytes(body)], status: status, fields: fields.pairs, framing: .contentLength)
    }

    /// The answer, broken off after a number of bytes of the body.
    func answer(to request: ScriptedOrigin.Request, cutAfter count: Int) -> ScriptedOrigin.Response {
        let (status, fields, body) = parts(for: request)
        guard count < body.count else { return answer(to: request) }
        return .stream(
            [.bytes(body.prefix(count)), .close],
            status: status,
            fields: fields.pairs,
            framing: .declaredLength(body.count)
        )
    }

    private func parts(for request: ScriptedOrigin.Request) -> (Int, [(String, String)], Data) {
        var fields = [("Accept-Ranges", knowsRanges ? "bytes" : "none")]
        if let entityTag { fields.append(("ETag", entityTag)) }
        let condition = request.value(of: "If-Range")
        guard knowsRanges, let start = rangeStart(of: request), condition == nil || condition == entityTag else {
            return (200, fields, bytes)
        }
        guard start < bytes.count else { return (416, fields + [("Content-Range", "bytes */\(bytes.count)")], Data()) }
        return (206, fields + [("Content-Range", "bytes \(start)-\(bytes.count - 1)/\(bytes.count)")], bytes[start...])
    }

    /// The first byte that a request asks for; nil if it asks for the whole file.
    func rangeStart(of request: ScriptedOrigin.Request) -> Int? {
        guard let range = request.value(of: "Range"), range.hasPrefix("bytes="), range.hasSuffix("-") else {
            return nil
        }
        return Int(range.dropFirst(6).dropLast())
    }
}

extension [(String, String)] {
    /// `KeyValuePairs` can only be written as a literal; no answer here needs more than three fields.
    fileprivate var pairs: KeyValuePairs<String, String> {
        switch count {
        case 0: [:]
        case 1: [self[0].0: self[0].1]
        case 2: [self[0].0: self[0].1, self[1].0: self[1].1]
        default: [self[0].0: self[0].1, self[1].0: self[1].1, self[2].0: self[2].1]
        }
    }
}
