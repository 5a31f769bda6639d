import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

/// An origin that sends ranges of several representations of one URL, and does not always send what it was asked for.
///
/// What it says about the bytes of one response is true: their place, the length of the whole and the tag. All else may be
/// otherwise than in the response before.
private final class LyingOrigin: Sendable {
    private struct Version {
        let tag: String
        let length: Int
        let number: Int

        /// Bytes that say where they are from.
        func bytes(_ range: Range<Int>) -> Data {
            Data(range.map { UInt8(truncatingIfNeeded: number &* 57 &+ $0 &* 31 &+ $0 >> 8) })
        }
    }

    private struct State {
        var generator: SeededGenerator
        var versions: [Version]
        var present = 0
    }

    private let state: Mutex<State>

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let length = Int.random(in: 1...3_000, using: &generator)
        let versions = (0..<4).map { number in
            // A version may differ in its tag alone.
            Version(
                tag: "\"\(number)\"",
                length: Bool.random(using: &generator) ? length : Int.random(in: 1...3_000, using: &generator),
                number: number
            )
        }
        state = Mutex(State(generator: generator, versions: versions))
    }

    func answer(to request: URLRequest) -> ScriptedTransport.Answer {
        state.withLock { state in
            func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &state.generator) < share }
            if chance(0.1) { state.present = Int.random(in: 0..<state.versions.count, using: &state.generator) }
            let lies = chance(0.2)
            let version = lies ? state.versions.randomElement(using: &state.generator) : state.versions[state.present]
            guard let version else { return .failed(.badServerResponse) }
            var fields = [
                "ETag": version.tag, "Cache-Control": chance(0.5) ? "max-age=60" : "max-age=0", "Content-Type": "a/b",
            ]
            if !lies, request.value(forHTTPHeaderField: "If-None-Match") == version.tag {
                return .status(304, fields: fields)
            }
            var range = 0..<version.length
            var status = 200
            let condition = request.value(forHTTPHeaderField: "If-Range")
            if let asked = request.value(forHTTPHeaderField: "Range")?.dropFirst("bytes=".count),
                lies || condition ?? version.tag == version.tag, !chance(0.1)
            {
                let ends = asked.split(separator: "-", omittingEmptySubsequences: false)
                let first = Int(ends[0]) ?? max(0, version.length - (Int(ends[1]) ?? 0))
                let last = ends[0].isEmpty ? version.length - 1 : min(Int(ends[1]) ?? .max, version.length - 1)
                guard first <= last else {
                    return .status(416, fields: ["Content-Range": "bytes */\(version.length)"])
                }
                range = first..<last + 1
                if lies, chance(0.3) {
                    // Another range than the one that was asked for.
                    let lower = Int.random(in: 0..<version.length, using: &state.generator)
                    range = lower..<Int.random(in: lower + 1...version.length, using: &state.generator)
                }
                status = 206
                fields["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(version.length)"
            }
            fields["Content-Length"] = "\(range.count)"
            let body = version.bytes(range)
            guard !chance(0.3) else {
                let count = Int.random(in: 0..<body.count, using: &state.generator)
                return ScriptedTransport.Answer([
                    .head(status, fields: fields), .part(body.prefix(count)), .error(URLError(.networkConnectionLost)),
                ])
            }
            return .status(status, fields: fields, body: body)
        }
    }

    /// Whether a response has the bytes of the version that its tag names, in the place that it says.
    func hasSent(_ response: HTTPURLResponse, _ body: Data) -> Bool {
        guard response.statusCode != 416 else { return body.isEmpty }
        let versions = state.withLock(\.versions)
        guard let version = versions.first(where: { $0.tag == response.value(forHTTPHeaderField: "ETag") }) else {
            return false
        }
        guard response.statusCode == 206 else { return body == version.bytes(0..<version.length) }
        let numbers = (response.value(forHTTPHeaderField: "Content-Range") ?? "").split { !$0.isNumber }.compactMap {
            Int($0)
        }
        guard numbers.count == 3, numbers[2] == version.length, numbers[1] < version.length else { return false }
        return body == version.bytes(numbers[0]..<numbers[1] + 1)
    }
}

@Suite("Parts of an origin that lies", .timeLimit(.minutes(20)))
struct LyingOriginTests {
    /// The number of rounds, which the variable `WAYSTATION_LYING_ROUNDS` changes.
    private static var rounds: Int {
        ProcessInfo.processInfo.environment["WAYSTATION_LYING_ROUNDS"].flatMap { Int($0) } ?? 1_000
    }

    @Test("no body is mixed from the bytes of two representations", arguments: 0..<4)
    func mixed(worker: Int) async throws {
        let directory = try TemporaryDirectory()
        let cache = try ResponseCache(directory: directory.url, environment: .patient)
        let origins = Mutex<[String: LyingOrigin]>([:])
        let network = ScriptedTransport { request in
            origins.withLock { $0[request.url?.path ?? ""] }?.answer(to: request) ?? .failed(.badURL)
        }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://lie.test/**", via: .cache(.standard))]
            $0.cache = cache
            $0.makeTransport = { _ in network }
        }
        let client = interceptor.client()
        var (wrong, whole, partial, failed) = (0, 0, 0, 0)
        for round in 0..<Self.rounds / 4 {
            let seed = UInt64(worker * 1_000_000 + round)
            let path = "/\(round)"
            let origin = LyingOrigin(seed: seed)
            origins.withLock { $0 = [path: origin] }
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<6 {
                var request = URLRequest(url: try #require(URL(string: "http://lie.test\(path)")))
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: break
                case 1:
                    request.setValue(
                        "bytes=-\(Int.random(in: 1...3_000, using: &generator))",
                        forHTTPHeaderField: "Range"
                    )
                default:
                    let first = Int.random(in: 0...2_000, using: &generator)
                    let last = first + Int.random(in: 0...1_500, using: &generator)
                    request.setValue("bytes=\(first)-\(last)", forHTTPHeaderField: "Range")
                }
                do {
                    let (body, response) = try await client.data(for: request)
                    if response.statusCode == 206 { partial += 1 } else { whole += 1 }
                    if !origin.hasSent(response, body) {
                        wrong += 1
                        Issue.record("seed \(seed): \(response.statusCode) \(response.allHeaderFields)")
                    }
                } catch { failed += 1 }
            }
        }
        #expect(wrong == 0)
        // Each kind of result occurs.
        #expect(whole > 0 && partial > 0 && failed > 0)
    }
}
