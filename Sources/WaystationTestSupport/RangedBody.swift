package import Foundation
package import Synchronization
package import WaystationOrigin

/// The representation that an origin has, of which it sends ranges, and the number of its bytes that were sent.
package final class RangedBody: Sendable {
    package struct State {
        package var body: Data
        package var tag: String
        package var sent = 0
        package var fields: [String: String] = ["Cache-Control": "max-age=3600", "Content-Type": "video/mp4"]
        /// The number of bytes after which the next response breaks off.
        package var breaksAfter: Int?
        package var sendsRanges = true
    }

    package let state: Mutex<State>

    package init(_ body: Data, tag: String = "\"v1\"") { state = Mutex(State(body: body, tag: tag)) }

    package convenience init(_ length: Int, tag: String = "\"v1\"", seed: UInt8 = 1) {
        self.init(Self.bytes(length, seed), tag: tag)
    }

    package static func bytes(_ length: Int, _ seed: UInt8) -> Data {
        Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ Int(seed)) })
    }

    package func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    package func text(_ range: Range<Int>? = nil) -> String {
        state.withLock { String(decoding: $0.body[range ?? 0..<$0.body.count], as: UTF8.self) }
    }

    package var sent: Int { state.withLock(\.sent) }

    package func answer(to request: ScriptedOrigin.Request) -> ScriptedOrigin.Response {
        state.withLock { state in
            if let tag = request.value(of: "If-None-Match"), tag == state.tag {
                return .message(304, state.fields.merging(["ETag": tag]) { $1 })
            }
            var fields = state.fields
            if !state.tag.isEmpty { fields["ETag"] = state.tag }
            var range = 0..<state.body.count
            var status = 200
            if state.sendsRanges, let asked = request.value(of: "Range")?.dropFirst("bytes=".count),
                request.value(of: "If-Range").map({ $0 == state.tag }) ?? true
            {
                let ends = asked.split(separator: "-", omittingEmptySubsequences: false)
                range =
                    if let first = Int(ends[0]) {
                        first..<min(range.count, Int(ends[1]).map { $0 + 1 } ?? range.count)
                    } else {
                        range.count - (Int(ends[1]) ?? 0)..<range.count
                    }
                status = 206
                fields["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(state.body.count)"
            }
            fields["Content-Length"] = "\(range.count)"
            let sent = state.body[range].prefix(state.breaksAfter.take() ?? .max)
            state.sent += sent.count
            return .message(status, fields, sent)
        }
    }
}

extension ScriptedOrigin.Response {
    /// A response as its fields say, after which the connection is closed.
    package static func message(_ status: Int, _ fields: [String: String], _ body: Data = Data()) -> Self {
        let lines = fields.map { "\($0): \($1)\r\n" }.joined()
        return .raw(Data("HTTP/1.1 \(status) Status\r\nConnection: close\r\n\(lines)\r\n".utf8) + body)
    }
}
