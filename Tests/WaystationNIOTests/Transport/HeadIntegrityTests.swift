#if NIO
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTestSupport
@_spi(Hostile) import WaystationTesting
import Waystation

@testable import WaystationNIO

/// One of the loads, whose request follows from its number.
private struct NumberedLoad {
    enum Treatment: CaseIterable {
        case answer, answerAndGoAway, refuse, reset, cancel
    }

    let number: Int

    /// About one load in 40 is treated in each unusual way; the server treats it so once.
    var treatment: Treatment {
        switch number % 40 {
        case 7: .refuse
        case 17: .reset
        case 27: .cancel
        case 37: .answerAndGoAway
        default: .answer
        }
    }

    var user: String { "user-\(number % 7)" }

    /// Fields of 1 byte to 64 KiB in all, as many of each order of magnitude.
    var fields: [(name: String, value: String)] {
        var generator = SeededGenerator(seed: UInt64(number))
        var rest = Int(exp(Double.random(in: 0...log(65_536), using: &generator)))
        var fields: [(name: String, value: String)] = []
        while rest > 0 {
            let count = min(rest, .random(in: 1...4000, using: &generator))
            // "~" has 13 bits in the compression's code, "a" has 5; both are common to many loads.
            let fill = String(
                repeating: ["~", "a", "\(number % 10)"].randomElement(using: &generator) ?? "",
                count: count
            )
            fields.append(("x-\(fields.count % 20)-\(number % 3)", "\(fill)\(number)"))
            rest -= count
        }
        return fields
    }

    func request(to origin: FrameOrigin) -> URLRequest {
        URLRequest(origin.url("/\(number)")) {
            $0.setValue(user, forHTTPHeaderField: "x-user")
            for (name, value) in fields { $0.addValue(value, forHTTPHeaderField: name) }
        }
    }

    /// What the server says about a request.
    static func check(_ request: FrameOrigin.Request) -> (load: NumberedLoad, text: String)? {
        guard let number = Int(request.path.dropFirst()) else { return nil }
        let load = NumberedLoad(number: number)
        let received = request.fields.filter { $0.name.hasPrefix("x-") }.map { "\($0.name): \($0.value)" }
        // Foundation joins fields of the same name, and keeps fields in no order.
        var joined: [String: String] = ["x-user": load.user]
        for (name, value) in load.fields { joined[name] = joined[name].map { "\($0),\(value)" } ?? value }
        let isRight = Set(received) == Set(joined.map { "\($0.key): \($0.value)" }) && received.count == joined.count
        return (load, isRight ? "\(number)" : "wrong fields for \(number): \(received.map { $0.prefix(40) })")
    }
}

@Suite("The fields of each request reach the server with that request", .timeLimit(.minutes(30)))
struct HeadIntegrityTests {
    /// The number of loads; 10,000 by `make heads`.
    private static let count = ProcessInfo.processInfo.environment["WAYSTATION_HEAD_LOADS"].flatMap { Int($0) } ?? 600

    @Test("whatever their heads' lengths, while others are refused, reset, cancelled and moved to other connections")
    func loads() async throws {
        let treated = Mutex<Set<Int>>([])
        let origin = try FrameOrigin(settings: [(3, 50), (1, 8192)]) { requests in
            guard let request = requests.last, let (load, text) = NumberedLoad.check(request) else { return .none }
            let isFirst = treated.withLock { $0.insert(load.number).inserted }
            let response =
                RawFrames.headers(request.stream, [(":status", "200"), ("x-user", load.user)])
                + RawFrames.data(request.stream, Array(text.utf8), isLast: true)
            switch load.treatment {
            case .refuse where isFirst: return .init(RawFrames.reset(request.stream, 7))
            case .reset where isFirst: return .init(RawFrames.reset(request.stream, 2))
            case .answerAndGoAway where isFirst: return .init(response, RawFrames.goAway(last: request.stream))
            default: return .init(response)
            }
        }
        let transport = NIOTransport.frames()
        let workers = 32
        await withTaskGroup { group in
            for worker in 0..<workers {
                group.addTask {
                    for number in stride(from: worker, to: Self.count, by: workers) {
                        await Self.load(NumberedLoad(number: number), origin, transport)
                    }
                }
            }
        }
        #expect(origin.mistakes == [])
        #expect(origin.requests.contains { $0.frames.count > 2 })
        #expect(origin.requests.allSatisfy { $0.frames.allSatisfy { $0 <= 16_384 } })
    }

    private static func load(_ load: NumberedLoad, _ origin: FrameOrigin, _ transport: NIOTransport) async {
        let recorder = Recorder()
        let exchange = transport.start(load.request(to: origin), receiver: recorder)
        guard load.treatment != .cancel else { return exchange.cancel() }
        let outcome = await recorder.end()
        // A stream that was reset is not sent again if it was the first one of its connection.
        if load.treatment == .reset, outcome.error != nil { return }
        #expect(outcome.text == "\(load.number)" && outcome.fields["x-user"] == load.user, "load \(load.number)")
        #expect(outcome.error == nil && outcome.wrongCalls == 0, "load \(load.number)")
    }
}
#endif
