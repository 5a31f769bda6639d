import Foundation
import FoundationNetworking
import WaystationTesting

extension Scenario {
    /// Bodies of different forms on the wire, and of different sizes.
    static let bodies: [Scenario] =
        both("body/gzip") { _, _ in .ok(gzipped, fields: ["Content-Type": "text/html", "Content-Encoding": "gzip"]) }
        + both("body/chunked") { _, _ in
            .stream(
                ["one ", "two ", "three"].map { .bytes(Data($0.utf8)) },
                fields: ["Content-Type": "text/plain"]
            )
        }
        + both("body/gzip-chunked") { _, _ in
            .stream(
                [.bytes(gzipped.prefix(11)), .bytes(gzipped.dropFirst(11))],
                fields: ["Content-Encoding": "gzip", "Content-Type": "text/plain"]
            )
        }
        + both("body/204") { _, _ in .status(204) }
        + both("body/304") { _, _ in .status(304, fields: ["ETag": "\"1\""]) }
        + both("body/404") { _, _ in .status(404, body: Data("not here".utf8)) }
        + both("body/500") { _, _ in .status(500, fields: ["Retry-After": "1"], body: Data("broken".utf8)) }
        + both("body/empty") { _, _ in .ok("") }
        + both("body/empty-chunked") { _, _ in .stream([]) }
        + both("body/until-close") { _, _ in .stream([.bytes(Data("to the end".utf8))], framing: .untilClose) }
        + both("body/large") { _, _ in .ok(large, fields: ["Content-Type": "application/octet-stream"]) }
        + both("body/large-many-chunks") { _, _ in
            .stream(
                stride(from: 0, to: large.count, by: 8 << 10).map {
                    .bytes(large[$0..<min($0 + (8 << 10), large.count)])
                },
                fields: ["Content-Type": "application/octet-stream"]
            )
        }
        + [
            Scenario("body/large/async", repeats: true) { _, _ in
                .ok(large, fields: ["Content-Type": "application/octet-stream"])
            } run: {
                try await $0.load(.data, .async, $0.request("/large"))
            },
            Scenario("body/large/download") { _, _ in
                .ok(large, fields: ["Content-Type": "application/octet-stream"])
            } run: {
                try await $0.load(.download, .delegate, $0.request("/large"))
            },
            Scenario("body/range") { request, _ in
                .status(
                    206,
                    fields: ["Content-Range": "bytes 2-4/10", "Content-Type": "text/plain"],
                    body: Data((request.value(of: "Range") ?? "").utf8)
                )
            } run: { stage in
                var request = stage.request("/range")
                request.setValue("bytes=2-4", forHTTPHeaderField: "Range")
                try await stage.load(.data, .completion, request)
            },
        ]

    /// Eight MiB in which no part repeats another.
    private static let large: Data = {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15
        return Data(
            (0..<(8 << 20)).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            }
        )
    }()

    /// `<p>` and 200 times `hello `, compressed by gzip (RFC 1952).
    private static let gzipped =
        Data(base64Encoded: "H4sIAAAAAAACA7MpsMtIzcnJVxglR8lRcpQc/CQA2jMZabMEAAA=") ?? Data()

    /// Makes two scenarios of a load: one waits with a completion handler, the other with a delegate.
    private static func both(_ name: String, origin: @escaping Script) -> [Scenario] {
        [Way.completion, .delegate].map { way in
            Scenario("\(name)/\(way.rawValue)", repeats: true, origin: origin) {
                try await $0.load(.data, way, $0.request("/body"))
            }
        }
    }
}
