import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite(.timeLimit(.minutes(10)))
struct FaultTests {
    private func stubs() throws -> Stubs { try Stubs { Stub(.any("*://*:*/**"), .ok("0123456789")) } }

    @Test(arguments: [
        (Faults.offline, URLError.Code.notConnectedToInternet), (.dnsFailure, .cannotFindHost), (.timeOut, .timedOut),
        (.failing(.loss(afterBytes: 4)), .networkConnectionLost),
        (.failing(.loss(afterBytes: 0, error: .secureConnectionFailed)), .secureConnectionFailed),
        (.captivePortal, .serverCertificateUntrusted),
    ])
    func `a failure reaches the code under test`(faults: Faults, code: URLError.Code) async throws {
        let session = try stubs().makeSession(faults: faults)
        #expect(await session.failure("https://a.example/")?.code == code)
    }

    @Test func `a lost connection ends a body after the bytes that arrived`() async throws {
        let interceptor = try stubs().makeInterceptor(faults: .failing(.loss(afterBytes: 4)))
        let collector = ByteCollector()
        let session = URLSession(
            configuration: .ephemeral.intercepted(by: interceptor),
            delegate: collector,
            delegateQueue: nil
        )
        let error = await collector.run(session.dataTask(with: try #require(URL(string: "https://a.example/"))))
        session.finishTasksAndInvalidate()
        #expect((error as? URLError)?.code == .networkConnectionLost)
        #expect(collector.text == "0123")
        let whole = try stubs().makeSession(faults: .failing(.loss(afterBytes: 10)))
        #expect(try await whole.load("https://a.example/").text == "0123456789")
    }

    @Test func `a captive portal answers for every http host`() async throws {
        let stubs = try stubs()
        let session = try stubs.makeSession(faults: .failing(.captivePortal(page: "log in")))
        #expect(try await session.load("http://a.example/x").text == "log in")
        #expect(stubs.calls.isEmpty)
    }

    @Test func `latency, slow starts and bandwidth pass at once, and count against the time-out`() async throws {
        let url = try #require(URL(string: "https://a.example/"))
        func load(_ faults: Faults, timeout: TimeInterval, body: Data = Data()) async -> [URLError.Code?] {
            let session = try? stubs().makeSession(faults: faults)
            var request = URLRequest(url: url)
            request.timeoutInterval = timeout
            if !body.isEmpty { (request.httpMethod, request.httpBody) = ("POST", body) }
            var codes: [URLError.Code?] = []
            for _ in 0..<2 {
                do {
                    _ = try await session?.data(for: request)
                    codes.append(nil)
                } catch { codes.append((error as? URLError)?.code) }
            }
            return codes
        }
        #expect(await load(.slow3G, timeout: 3) == [nil, nil])
        #expect(await load(.slow3G, timeout: .infinity) == [nil, nil])
        #expect(await load(.slow3G, timeout: 2) == [.timedOut, .timedOut])
        // 100 kB of a request at 50 kB/s.
        #expect(await load(.slow3G, timeout: 4, body: Data(count: 100_000)) == [.timedOut, .timedOut])
        #expect(await load(.slow3G, timeout: 5, body: Data(count: 100_000)) == [nil, nil])
        let slow = Faults {
            $0.bytesPerSecond = 2
        }
        #expect(await load(slow, timeout: 5) == [.timedOut, .timedOut])
        #expect(await load(slow, timeout: 6) == [nil, nil])
        let cold = Faults {
            $0.slowStart = .seconds(10)
        }
        #expect(await load(cold, timeout: 10) == [.timedOut, nil])
    }

    @Test func `chance depends on the seed and the request alone`() async throws {
        func outcomes(_ faults: Faults, inOrder numbers: [Int]) async throws -> [Int: URLError.Code?] {
            let session = try stubs().makeSession(faults: faults)
            var outcomes: [Int: URLError.Code?] = [:]
            for number in numbers {
                outcomes[number] = .some(await session.failure("https://a.example/\(number)")?.code)
            }
            return outcomes
        }
        let numbers = Array(0..<60)
        let first = try await outcomes(.flaky(seed: 7), inOrder: numbers)
        #expect(try await outcomes(.flaky(seed: 7), inOrder: numbers.reversed()) == first)
        #expect(try await outcomes(.flaky(seed: 8), inOrder: numbers) != first)
        let failed = first.values.count { $0 != nil }
        #expect((6...30).contains(failed))
        #expect(try await outcomes(.flaky(seed: 7, probability: 0), inOrder: numbers).values.allSatisfy { $0 == nil })
        #expect(try await outcomes(.flaky(seed: 7, probability: 1), inOrder: numbers).values.allSatisfy { $0 != nil })
    }

    @Test func `jitter stays within its bounds`() {
        let faults = Faults {
            $0.latency = .seconds(10)
            $0.jitter = .seconds(2)
        }
        let request = URLRequest(url: URL(fileURLWithPath: "/"))
        let delays = (0..<200).map { FaultPlan(faults, request, sent: 0, number: $0, isFirst: false).delay }
        #expect(delays.allSatisfy { (.seconds(8)...(.seconds(12))).contains($0) })
        #expect(Set(delays).count > 100)
        #expect(delays.contains { $0 < .seconds(9) })
        #expect(delays.contains { $0 > .seconds(11) })
        var other = faults
        other.seed = 1
        for (seeded, isEqual) in [(faults, true), (other, false)] {
            let again = (0..<200).map { FaultPlan(seeded, request, sent: 0, number: $0, isFirst: false).delay }
            #expect((again == delays) == isEqual)
        }
    }

    @Test func `times below zero count as zero, and immense ones have a limit`() {
        func delay(_ configure: (inout Faults) -> Void) -> Duration {
            let request = URLRequest(url: URL(fileURLWithPath: "/"))
            return FaultPlan(Faults(configure), request, sent: 10, number: 0, isFirst: true).delay
        }
        let times = [\Faults.latency, \.jitter, \.slowStart]
        for time in times {
            let faults = { (faults: inout Faults) in
                faults.latency = .seconds(10)
                faults.slowStart = .seconds(10)
                faults[keyPath: time] = .seconds(-5)
            }
            #expect(delay(faults) == (time == \.jitter ? .seconds(20) : .seconds(10)))
        }
        for time in [Duration.seconds(Int64.max), .seconds(1e20)] {
            #expect(delay { for part in times { $0[keyPath: part] = time } } >= .zero)
            #expect(delay { $0.latency = time } == .days(100_000))
        }
        for rate in [Int.min, -1, 0] { #expect(delay { $0.sentBytesPerSecond = rate } == .seconds(10)) }
    }

    @Test(arguments: [(-1.0, false), (-.infinity, false), (.nan, false), (2, true), (.infinity, true)])
    func `a probability outside of 0 to 1 means never or always`(probability: Double, fails: Bool) async throws {
        let session = try stubs().makeSession(faults: .flaky(seed: 7, probability: probability))
        for number in 0..<10 { #expect((await session.failure("https://a.example/\(number)") != nil) == fails) }
    }

    @Test func `faults of a real transport pass in real time`() async throws {
        let origin = try ScriptedOrigin { _ in .ok("real") }
        let faults = Faults {
            $0.latency = .milliseconds(50)
            $0.bytesPerSecond = 100
        }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.makeTransport = { faults.applied(to: URLSessionTransport(configuration: $0), time: .real) }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let begun = ContinuousClock.now
        #expect(try await session.data(from: origin.url()).0 == Data("real".utf8))
        // 50 ms until the head, and 40 ms for four bytes; a lower bound holds on any machine.
        #expect(ContinuousClock.now - begun >= .milliseconds(90))
    }

    @Test func `a rule has faults on its way to the network, to stubs and to a recording`() async throws {
        let origin = try ScriptedOrigin { _ in .ok("real") }
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let recording = try Recording(folder.appending(path: "a.har"))
        let cold = Faults {
            $0.slowStart = .seconds(10)
        }
        let stubs = try Stubs { Stub(.any("*://*:*/**"), .ok("stub")) }
        let interceptor = try Interceptor {
            $0.rules = [
                .allow("http://127.0.0.1:*/plain", via: .network),
                .allow("http://127.0.0.1:*/cut", via: .network(faults: .failing(.loss(afterBytes: 2)))),
                .allow("http://127.0.0.1:*/cold", via: .network(faults: cold, time: .virtual)),
                .allow(
                    "http://127.0.0.1:*/recorded",
                    via: .recorded(recording, faults: .failing(.loss(afterBytes: 2)))
                ),
                .allow("https://stubs.example/**", via: .stubs(stubs, faults: cold)),
            ]
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        #expect(try await session.load(origin.url("/plain").absoluteString).text == "real")
        for target in ["/cut", "/recorded"] {
            let error = await session.failure(origin.url(target).absoluteString)
            #expect(error?.code == .networkConnectionLost, "\(target)")
        }
        // Nothing is sent again.
        #expect(origin.requests.map(\.target) == ["/plain", "/cut", "/recorded"])
        for url in [origin.url("/cold"), try #require(URL(string: "https://stubs.example/"))] {
            var request = URLRequest(url: url)
            request.timeoutInterval = 10
            let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
            #expect(error?.code == .timedOut)
            _ = try await session.data(for: request)
        }
        #expect(interceptor.decision(for: origin.url("/cut")) == .allowed(rule: 1, pattern: "http://127.0.0.1:*/cut"))
    }

    @Test func `a load is cancelled while its response is delayed`() async throws {
        let faults = Faults {
            $0.latency = .seconds(3_600)
        }
        let network = ScriptedTransport { _ in .unanswered }
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://a.example/**", via: .network)]
            $0.makeTransport = { _ in faults.applied(to: network, time: .real) }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let load = Task { try await session.load("https://a.example/") }
        await network.waitForRequests(1)
        load.cancel()
        await network.waitForCancelledRequests(1)
        let error = await #expect(throws: URLError.self) { try await load.value }
        #expect(error?.code == .cancelled)
    }
}

/// Collects the bytes of one task.
private final class ByteCollector: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // `@unchecked`: written on the session's delegate queue before the continuation resumes, and read after it.
    private(set) var text = ""
    private var continuation: CheckedContinuation<(any Error)?, Never>?

    func run(_ task: URLSessionTask) async -> (any Error)? {
        await withCheckedContinuation { continuation in
            self.continuation = continuation
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        text += String(decoding: data, as: UTF8.self)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation?.resume(returning: error)
    }
}
