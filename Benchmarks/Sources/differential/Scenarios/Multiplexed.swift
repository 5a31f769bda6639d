import Foundation
import FoundationNetworking
import WaystationTestSupport

extension Scenario {
    /// Loads by HTTP/2: what a server may do with streams and with the connection, and what it may not.
    static let multiplexed: [Scenario] = answers + goingAway + resets + flow

    private static let ok = [(":status", "200"), ("content-type", "text/plain")]
    private static let hello = Array("hello".utf8)

    private enum Code {
        static let noError: UInt32 = 0, internalError: UInt32 = 2, refused: UInt32 = 7, cancel: UInt32 = 8
    }

    /// The whole answer on a stream.
    private static func answer(_ id: UInt32) -> [UInt8] {
        RawFrames.headers(id, ok) + RawFrames.data(id, hello, isLast: true)
    }

    private static func settings(_ values: (UInt16, UInt32)...) -> HTTP2Origin.Step {
        .frames([RawFrames.settings(values)])
    }

    private static let answers: [Scenario] =
        Way.allCases.map { way in
            Scenario("h2/\(way.rawValue)", setting: .http2 { _ in [settings(), .answers] }) {
                try await $0.load(.data, way, from: "https://localhost:\($0.securePort)/a?b=c")
            }
        } + [
            http2("h2/POST", "POST", body: 10_000) { _ in [settings(), .answers] },
            http2("h2/HEAD", "HEAD") { _ in
                [settings(), .request, .frames([RawFrames.headers(1, ok + [("content-length", "5")], isLast: true)])]
            },
            http2("h2/no-body") { _ in
                [settings(), .request, .frames([RawFrames.headers(1, [(":status", "204")], isLast: true)])]
            },
            http2("h2/interim") { _ in
                [
                    settings(), .request,
                    .frames([RawFrames.headers(1, [(":status", "103"), ("link", "</a>")]), answer(1)]),
                ]
            },
            http2("h2/trailers", stopsFoundation: true, required: ["status": "200", "error": "none"]) { _ in
                [
                    settings(), .request,
                    .frames([
                        RawFrames.headers(1, ok), RawFrames.data(1, hello),
                        RawFrames.headers(1, [("x-trailer", "1")], isLast: true),
                    ]),
                ]
            },
            http2("h2/length-too-long") { _ in
                [
                    settings(), .request,
                    .frames([
                        RawFrames.headers(1, ok + [("content-length", "6")]), RawFrames.data(1, hello, isLast: true),
                    ]),
                ]
            },
            http2("h2/upper-case-field") { _ in
                [
                    settings(), .request,
                    .frames([RawFrames.headers(1, ok + [("X-Odd", "1")]), RawFrames.data(1, hello, isLast: true)]),
                ]
            },
            http2("h2/padded") { _ in
                [
                    settings(), .request,
                    .frames([RawFrames.headers(1, ok), RawFrames.data(1, hello, isLast: true, padding: 200)]),
                ]
            },
            http2("h2/ping") { _ in [settings(), .frames([RawFrames.ping()]), .request, .pong, .frames([answer(1)])] },
            http2("h2/unknown-frame") { _ in
                [settings(), .frames([RawFrames.frame(200, [1, 2, 3])]), .request, .frames([answer(1)])]
            },
            http2("h2/broken/push") { _ in
                [
                    settings(), .request,
                    .frames([RawFrames.frame(5, flags: 0x4, on: 1, RawFrames.number(2)), answer(1)]),
                ]
            },
            atOnce("h2/many-at-once", count: 20) { _ in [settings(), .answers] },
            atOnce("h2/stream-limit", count: 4) { _ in limited },
        ]

    /// Two streams at a time, also after a first answer, when the client knows the limit.
    private static let limited: [HTTP2Origin.Step] = [
        settings((3, 2)), .request, .answersEnded, .request, .request, .answersEnded, .request, .request, .answersEnded,
    ]

    private static let goingAway: [Scenario] = [
        http2("h2/goaway/at-stream") { _ in
            [settings(), .request, .frames([RawFrames.goAway(last: 1), answer(1)]), .close]
        },
        http2("h2/goaway/above-stream") { _ in
            [
                settings(), .request,
                .frames([RawFrames.goAway(last: 0x7fff_ffff), answer(1), RawFrames.goAway(last: 1)]), .close,
            ]
        },
        again("h2/goaway/below-stream/GET", "GET", RawFrames.goAway(last: 0)),
        again("h2/goaway/below-stream/POST", "POST", RawFrames.goAway(last: 0)),
        http2("h2/goaway/within-body") { _ in
            [
                settings(), .request,
                .frames([
                    RawFrames.headers(1, ok), RawFrames.goAway(last: 1, Code.internalError),
                    RawFrames.data(1, hello, isLast: true),
                ]),
                .close,
            ]
        },
        oneAfterTheOther("h2/goaway/after-answer") { number in
            number == 0
                ? [settings(), .request, .frames([answer(1), RawFrames.goAway(last: 1)])] : [settings(), .answers]
        },
        oneAfterTheOther("h2/closed/after-answer", closesBetween: true) { _ in [settings(), .answers] },
        oneAfterTheOther("h2/closed/second-request") { number in
            number == 0
                ? [settings(), .request, .frames([answer(1)]), .request, .close] : [settings(), .answers]
        },
        oneAfterTheOther("h2/kept") { _ in [settings(), .answers] },
        http2("h2/closed/before-head") { _ in [settings(), .request, .close] },
        http2("h2/closed/within-body") { _ in
            [settings(), .request, .frames([RawFrames.headers(1, ok), RawFrames.data(1, hello)]), .close]
        },
        http2("h2/broken/frame-too-large") { _ in
            [settings(), .request, .frames([RawFrames.data(1, [UInt8](repeating: 0, count: 20_000))])]
        },
        http2("h2/broken/data-before-head") { _ in
            [settings(), .request, .frames([RawFrames.data(1, hello, isLast: true)])]
        },
        http2("h2/broken/no-HTTP2") { _ in [.request, .frames([Array("HTTP/1.1 200 OK\r\n\r\n".utf8)]), .close] },
    ]

    private static let resets: [Scenario] = [
        http2("h2/reset/before-head") { _ in
            [settings(), .request, .frames([RawFrames.reset(1, Code.internalError)])]
        },
        http2("h2/reset/cancelled-before-head") { _ in
            [settings(), .request, .frames([RawFrames.reset(1, Code.cancel)])]
        },
        http2("h2/reset/after-head") { _ in
            [
                settings(), .request,
                .frames([
                    RawFrames.headers(1, ok), RawFrames.data(1, hello), RawFrames.reset(1, Code.internalError),
                ]),
            ]
        },
        again("h2/reset/refused/GET", "GET", RawFrames.reset(1, Code.refused), then: [.answers]),
        again(
            "h2/reset/refused/POST",
            "POST",
            RawFrames.reset(1, Code.refused),
            then: [.answers]
        ),
        // A server that needs no more of the body asks the client to stop (RFC 9113, section 8.1).
        http2("h2/reset/early-answer", "POST", body: 200_000) { _ in
            [settings(), .data(65_535), .frames([answer(1), RawFrames.reset(1, Code.noError)])]
        },
    ]

    private static let flow: [Scenario] = [
        http2("h2/window/download") { _ in
            [settings(), .request, .frames([RawFrames.headers(1, ok)]), .body(1, 3_000_000)]
        },
        http2("h2/window/upload", "POST", body: 200_000) { _ in
            [
                settings(), .data(65_535),
                .frames([RawFrames.windowUpdate(0, 1 << 20), RawFrames.windowUpdate(1, 1 << 20)]), .request,
                .frames([answer(1)]),
            ]
        },
        http2("h2/window/stream-only", "POST", body: 200_000) { _ in
            [
                settings(), .frames([RawFrames.windowUpdate(0, 1 << 20)]), .data(65_535),
                .frames([RawFrames.windowUpdate(1, 1)]), .data(65_536),
                .frames([RawFrames.windowUpdate(1, 1 << 20)]), .request, .frames([answer(1)]),
            ]
        },
        // The server changes the initial window while the body is under way, to more and then to less than was sent.
        http2("h2/window/settings-in-flight", "POST", body: 200_000) { _ in
            [
                settings(), .frames([RawFrames.windowUpdate(0, 1 << 20)]), .data(65_535),
                .frames([RawFrames.settings([(4, 100_000)])]), .data(100_000),
                .frames([RawFrames.settings([(4, 10)]), RawFrames.windowUpdate(1, 99_991)]), .data(100_001),
                .frames([RawFrames.windowUpdate(1, 1 << 20)]), .request, .frames([answer(1)]),
            ]
        },
        http2("h2/window/zero-at-first", "POST", body: 10) { _ in
            [settings((4, 0)), .head, .frames([RawFrames.windowUpdate(1, 10)]), .request, .frames([answer(1)])]
        },
        http2("h2/window/too-large", "POST", body: 200_000) { _ in
            [
                settings(), .data(65_535),
                .frames([RawFrames.windowUpdate(1, 0x7fff_ffff), RawFrames.windowUpdate(1, 1)]),
            ]
        },
    ]

    /// Makes a load from a server that plays a script.
    private static func http2(
        _ name: String,
        _ method: String = "GET",
        body: Int = 0,
        stopsFoundation: Bool = false,
        required: [String: String] = [:],
        script: @escaping HTTP2Origin.Script
    ) -> Scenario {
        Scenario(name, stopsFoundation: stopsFoundation, required: required, setting: .http2(script)) { stage in
            try await stage.load(.data, .completion, from: "https://localhost:\(stage.securePort)/") { request in
                request.httpMethod = method
                if body > 0 { request.httpBody = Data(repeating: 0x61, count: body) }
            }
            await stage.waitForEnd()
            stage.noteHTTP2Connections()
        }
    }

    /// Makes a load that the server says it has not worked on; it may be sent again (RFC 9113, section 8.7).
    private static func again(
        _ name: String,
        _ method: String,
        _ refusal: [UInt8],
        then rest: [HTTP2Origin.Step] = []
    ) -> Scenario {
        http2(name, method, body: method == "GET" ? 0 : 10) { number in
            number == 0 ? [settings(), .request, .frames([refusal])] + rest : [settings(), .answers]
        }
    }

    /// Makes a scenario of two loads in one session, the second after the end of the first.
    ///
    /// With `closesBetween` the server closes the first connection between the loads.
    private static func oneAfterTheOther(
        _ name: String,
        closesBetween: Bool = false,
        script: @escaping HTTP2Origin.Script
    ) -> Scenario {
        Scenario(name, setting: .http2(script)) { stage in
            let session = stage.session()
            for target in ["first", "second"] {
                guard let url = URL(string: "https://localhost:\(stage.securePort)/\(target)") else { return }
                let (data, _) = try await session.data(from: url)
                stage.sightings.call(String(decoding: data, as: UTF8.self))
                if closesBetween, target == "first" { try await stage.servers.http2?.closeConnections() }
            }
            stage.noteHTTP2Connections()
            stage.sightings.end()
        }
    }

    /// Makes a scenario of several loads at once, after a first one.
    private static func atOnce(_ name: String, count: Int, script: @escaping HTTP2Origin.Script) -> Scenario {
        Scenario(name, setting: .http2(script)) { stage in
            // All loads are on one connection, so that the streams on it can be counted.
            let session = stage.session { $0.httpMaximumConnectionsPerHost = 1 }
            guard let first = URL(string: "https://localhost:\(stage.securePort)/first") else { return }
            _ = try await session.data(from: first)
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<count {
                    guard let url = URL(string: "https://localhost:\(stage.securePort)/\(number)") else { continue }
                    group.addTask { String(decoding: try await session.data(from: url).0, as: UTF8.self) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            stage.sightings.note("answers", answers.sorted().joined(separator: ", "))
            stage.sightings.note("most open streams", "\(stage.servers.http2?.seen.mostOpenStreams ?? 0)")
            stage.sightings.note("order", "of no matter")
            stage.noteHTTP2Connections()
            stage.sightings.end()
        }
    }
}

extension Setting {
    /// An origin that speaks HTTP/2.
    fileprivate static func http2(_ script: @escaping HTTP2Origin.Script) -> Setting {
        Setting(certificate: "name", http2: script)
    }
}

extension Scenario {
    /// Makes a scenario whose loads do not reach the origin without TLS.
    fileprivate init(
        _ name: String,
        stopsFoundation: Bool = false,
        required: [String: String] = [:],
        setting: Setting,
        run: @escaping @Sendable (Stage) async throws -> Void
    ) {
        self.init(
            name,
            stopsFoundation: stopsFoundation,
            required: required,
            setting: setting,
            origin: { _, _ in .status(404) },
            run: run
        )
    }
}

extension Stage {
    fileprivate func noteHTTP2Connections() {
        sightings.note("connections", "\(servers.http2?.seen.connections ?? 0)")
    }
}
