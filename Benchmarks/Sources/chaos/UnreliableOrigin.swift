import Foundation
import Measuring
import Synchronization
import WaystationTesting

/// An origin that delays, resets, cuts or falsifies one answer in three.
///
/// An answer with a false length, coding or status has the field `X-Lie`, so that a client that gets it from the
/// network may accept it; such an answer may never be served from the store.
final class UnreliableOrigin: Sendable {
    static let lie = "X-Lie"

    let base: String
    private let origin: ScriptedOrigin

    init(seed: UInt64) throws {
        let random = Mutex(SeededRandom(seed: seed))
        origin = try ScriptedOrigin(keepsRequests: false) { request in
            let (kind, roll, amount) = random.withLock { random in
                (
                    request.path.split(separator: "/").first ?? "",
                    Int.random(in: 0..<100, using: &random),
                    Int.random(in: 0..<40_000, using: &random)
                )
            }
            guard let number = request.path.split(separator: "/").last.flatMap({ Int($0) }) else {
                return .status(400)
            }
            if kind == "redirect" { return .redirect(to: "/standard/\(number)") }
            return Self.answer(request, Pattern.body(number), roll: roll, amount: amount, tag: "\"\(number)\"")
        }
        base = "http://127.0.0.1:\(origin.port)"
    }

    func stop() { origin.stop() }

    private static func answer(
        _ request: ScriptedOrigin.Request,
        _ body: Data,
        roll: Int,
        amount: Int,
        tag: String
    ) -> ScriptedOrigin.Response {
        switch roll {
        case ..<4: return .reset
        case ..<6: return .closed
        case ..<10: return .truncated(body, after: body.count / 2)
        case ..<13: return .stream([.bytes(body.prefix(body.count / 2)), .reset], framing: .declaredLength(body.count))
        case ..<16: return .status(503, fields: ["Retry-After": "0"])
        case ..<18: return .status(200, fields: [lie: "coding", "Content-Encoding": "gzip"], body: body)
        case ..<20: return .raw(Data(twoLengths(body.count).utf8) + body)
        case ..<22: return .status(304, fields: [lie: "status", "ETag": "\"another\""])
        case ..<24: return .status(206, fields: [lie: "range", "Content-Range": "bytes 5-9/3"], body: body)
        case ..<34: usleep(UInt32(amount))
        default: break
        }
        if request.value(of: "If-None-Match") == tag { return .status(304, fields: ["ETag": "\(tag)"]) }
        return .ok(
            body,
            fields: ["Content-Type": "application/octet-stream", "Cache-Control": "max-age=1", "ETag": "\(tag)"]
        )
    }

    private static func twoLengths(_ count: Int) -> String {
        "HTTP/1.1 200 OK\r\n\(lie): length\r\nContent-Length: \(count)\r\nContent-Length: \(count == 0 ? 1 : count / 2)\r\n"
            + "Cache-Control: max-age=60\r\nConnection: close\r\n\r\n"
    }
}
