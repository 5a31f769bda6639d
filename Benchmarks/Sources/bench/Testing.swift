import Foundation
import FoundationNetworking
import Measuring
import Waystation
import WaystationTesting

extension Benchmark {
    /// The cost of the tools for tests.
    static let testing: [Benchmark] = [
        Benchmark("replay/floor", "replay-open") {
            let scratch = try ScratchDirectory()
            let file = scratch.url.appendingPathComponent("recording.har")
            let urls = (0..<1_000).map { url("https://replay.test/\($0)") }
            try await record(urls, in: file)
            let replay = { try Loads(Recording(file, mode: .replay).makeSession(), urls, count: urls.count) }
            let figures = try await Loads.ratio(
                "replay/floor",
                limit: 1.15,
                judged: .crowd,
                of: ("replay", replay),
                to: floor
            )
            let opening = try await interleaved(
                rounds: 5,
                [
                    { try await microseconds { _ = try Recording(file, mode: .replay) } / Double(urls.count) }
                ]
            )
            return figures + [Figure("replay-open", opening[0], unit: "us")]
        },
        Benchmark("stubbed-tests") {
            let url = url("https://api.example/weather")
            let costs = try await interleaved(
                rounds: 9,
                [
                    { try await microseconds { for _ in 0..<500 { try await plainTest() } } / 500 },
                    { try await microseconds { for _ in 0..<500 { try await stubbedTest(url) } } / 500 },
                ]
            )
            return [
                Figure(
                    "stubbed-tests",
                    (costs[1] - costs[0]) / 1_000,
                    unit: "ms",
                    limit: 1,
                    against: ["plain-test-us": costs[0], "stubbed-test-us": costs[1]]
                )
            ]
        },
    ]

    /// Records one exchange for each URL.
    private static func record(_ urls: [URL], in file: URL) async throws {
        let network = ScriptedTransport { request in
            let number = Int(request.url?.lastPathComponent ?? "") ?? 0
            return .status(200, fields: ["Content-Type": "text/plain"], body: text(number))
        }
        let recording = try Recording(file, mode: .record, network: network)
        _ = try await Loads(recording.makeSession(), urls, count: urls.count).microseconds(atATime: 64)
        try recording.verify()
    }

    /// The text of a number, of 16 KiB.
    private static func text(_ number: Int) -> Data {
        Pattern.body(number, count: Sizes.small / 4 * 3).base64EncodedData()
    }

    private static func stubbedTest(_ url: URL) async throws {
        try await withStubs {
            Stub(.get("https://api.example/weather"), .json(["celsius": 21])).once()
        } perform: { _ in
            let (data, _) = try await URLSession(configuration: .ofTest).data(from: url)
            guard data.count == 14 else { throw Loads.WrongBody(url: url, count: data.count) }
        }
    }

    /// A test that loads nothing.
    @inline(never)
    private static func plainTest() async throws {
        await Task.yield()
    }

    private static func microseconds(_ work: () async throws -> Void) async rethrows -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        try await work()
        return start.duration(to: clock.now) / .microseconds(1)
    }
}
