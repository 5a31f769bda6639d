import Foundation
import FoundationNetworking
import Measuring
import WaystationTesting

extension Scenario {
    /// Methods, and bodies of data tasks.
    static let methods: [Scenario] = [
        method("POST", .completion, body: "a=b&c=d"),
        method("POST", .delegate, body: "a=b&c=d"),
        method("PUT", .async, body: "{\"a\":1}"),
        method("PATCH", .taskDelegate, body: "{}"),
        method("DELETE", .completion, body: nil),
        method("OPTIONS", .delegate, body: nil),
        method("HEAD", .completion, body: nil),
        method("HEAD", .delegate, body: nil),
        method("POST", .async, body: ""),
        Scenario("method/POST-stream/delegate") { request, _ in
            .ok("took \(Fingerprint(request.body))")
        } run: { stage in
            var request = stage.request("/post", "POST")
            request.httpBodyStream = InputStream(data: Data("streamed by a data task".utf8))
            try await stage.load(.data, .delegate, request)
        },
        Scenario("method/POST-large/completion") { request, _ in
            .ok("took \(Fingerprint(request.body))")
        } run: { stage in
            // The body is large enough for the loader to expect 100-continue.
            let body = Data(repeating: 0x61, count: 2 << 20)
            try await stage.load(.data, .completion, stage.request("/post", "POST", body: body))
        },
    ]

    private static func method(_ method: String, _ way: Way, body: String?) -> Scenario {
        let suffix = body == "" ? "-empty" : ""
        return Scenario("method/\(method)\(suffix)/\(way.rawValue)", repeats: method == "HEAD") { request, _ in
            .ok("took \(request.method) \(Fingerprint(request.body))")
        } run: { stage in
            let body = body.map { Data($0.utf8) }
            try await stage.load(.data, way, stage.request("/method?x=1", method, body: body))
        }
    }
}
