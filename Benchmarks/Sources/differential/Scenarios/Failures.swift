import Foundation
import FoundationNetworking
import WaystationTesting

extension Scenario {
    /// Failures between this process and the origin.
    static let failures: [Scenario] =
        both("fail/timeout", limit: timeOut) { _, _ in .unanswered }
        + both("fail/timeout-mid-body", limit: timeOut) { _, props in
            .stream([.bytes(Data("first".utf8)), .wait(props.gate), .bytes(Data("never".utf8))])
        }
        + both("fail/half-way") { _, _ in .truncated(Data(repeating: 0x61, count: 10_000), after: 5_000) }
        + both("fail/half-way-chunked") { _, _ in .stream([.bytes(Data("first".utf8)), .close]) }
        + both("fail/closed-before-head") { _, _ in .closed }
        + both("fail/reset") { _, _ in .reset }
        + both("fail/reset-mid-body") { _, _ in
            .stream([.bytes(Data(repeating: 0x61, count: 1_000)), .reset], framing: .declaredLength(2_000))
        }
        + both("fail/gibberish") { _, _ in .raw(Data("this is no HTTP\r\n\r\n".utf8)) }
        + both("fail/length-too-short") { _, _ in
            .stream([.bytes(Data("0123456789".utf8))], framing: .declaredLength(4))
        }
        + both("fail/broken-gzip") { _, _ in .ok(Data("no gzip".utf8), fields: ["Content-Encoding": "gzip"]) }
        + [
            Scenario("fail/timeout-of-session") { _, _ in
                .unanswered
            } run: {
                try await $0.load(.data, .completion, $0.request("/")) {
                    $0.timeoutIntervalForRequest = timeOut
                }
            },
            Scenario("fail/timeout/async") { _, _ in
                .unanswered
            } run: { stage in
                var request = stage.request("/")
                request.timeoutInterval = timeOut
                try await stage.load(.data, .async, request)
            },
            elsewhere("fail/refused/completion", .completion) { "http://127.0.0.1:\($0)/" },
            elsewhere("fail/refused/async", .async) { "http://127.0.0.1:\($0)/" },
            elsewhere("fail/refused/delegate", .delegate) { "http://127.0.0.1:\($0)/" },
            elsewhere("fail/host-not-found/completion", .completion) { _ in "http://nowhere.invalid/" },
            elsewhere("fail/host-not-found/delegate", .delegate) { _ in "http://nowhere.invalid/" },
            elsewhere("fail/unknown-scheme", .completion) { _ in "odd://127.0.0.1/" },
            elsewhere("fail/upload-refused", .delegate, kind: .uploadData) { "http://127.0.0.1:\($0)/" },
            elsewhere("fail/download-refused", .delegate, kind: .download) { "http://127.0.0.1:\($0)/" },
        ]

    /// A time-out in seconds that is long enough for the request to reach the origin, and for the first bytes to arrive,
    /// on a slow machine too.
    private static let timeOut: TimeInterval = 10

    private static func both(_ name: String, limit: TimeInterval = 60, origin: @escaping Script) -> [Scenario] {
        [Way.completion, .delegate].map { way in
            Scenario("\(name)/\(way.rawValue)", origin: origin) { stage in
                var request = stage.request("/")
                request.timeoutInterval = limit
                try await stage.load(.data, way, request)
            }
        }
    }

    /// Makes a load of a URL that no server answers; `url` gets the port of an origin that has just stopped.
    private static func elsewhere(
        _ name: String,
        _ way: Way,
        kind: Kind = .data,
        url: @escaping @Sendable (UInt16) -> String
    ) -> Scenario {
        Scenario(name) { _, _ in
            .ok()
        } run: { stage in
            stage.other.stop()
            guard let url = URL(string: url(stage.other.port)) else { return }
            var request = URLRequest(url: url)
            if kind != .data, kind != .download { request.httpMethod = "POST" }
            try await stage.load(kind, way, request)
        }
    }
}
