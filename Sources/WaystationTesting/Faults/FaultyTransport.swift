import Synchronization
import Waystation
package import WaystationFoundation
import WaystationStorage

/// A network with faults.
final class FaultyTransport: Transport {
    private let faults: Faults
    private let transport: any Transport
    private let time: DelayTime
    private let seen: SeenRequests

    init(_ faults: Faults, over transport: any Transport, time: DelayTime, seen: SeenRequests = SeenRequests()) {
        self.faults = faults
        self.transport = transport
        self.time = time
        self.seen = seen
    }

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        let (number, isFirst) = seen.add(request)
        let plan = FaultPlan(faults, request, sent: request.httpBody?.count ?? 0, number: number, isFirst: isFirst)
        let exchange = FaultyExchange(plan, faults.bytesPerSecond, request.silenceLimit, time, receiver)
        let below: any Transport =
            plan.answer.map { answer in ScriptedTransport.inVirtualTime { _ in answer } } ?? transport
        exchange.begin(below.start(request, receiver: exchange))
        return exchange
    }
}

/// The network of each session with the same faults, for a rule.
final class FaultyNetworks: TransportLayer {
    private let faults: Faults
    private let time: DelayTime
    private let seen = SeenRequests()

    init(_ faults: Faults, time: DelayTime) {
        self.faults = faults
        self.time = time
    }

    func over(_ network: any Transport) -> any Transport {
        FaultyTransport(faults, over: network, time: time, seen: seen)
    }

    /// Only ``over(_:)`` has a network.
    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        let unsupported = ScriptedTransport.inVirtualTime { _ in .failed(.unsupportedURL) }
        return unsupported.start(request, receiver: receiver)
    }
}

/// The requests so far, on which chance and slow starts depend.
final class SeenRequests: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var hosts: Set<String> = []
    }

    private let state = Mutex(State())

    /// - Returns: The number of such requests before this one, and whether it is the first one to its host.
    func add(_ request: URLRequest) -> (number: Int, isFirst: Bool) {
        state.withLock { state in
            let name = "\(request.httpMethod ?? "GET") \(request.url?.absoluteString ?? "")"
            defer { state.counts[name, default: 0] += 1 }
            return (state.counts[name, default: 0], state.hosts.insert(request.url?.host ?? "").inserted)
        }
    }
}

/// One exchange, whose events reach the receiver late, or not at all.
private final class FaultyExchange: TransportExchange, TransportReceiver {
    private enum Event {
        case head(ResponseHead)
        case part(Data)
        case sent(Int64, total: Int64, expected: Int64)
        case end((any Error)?)
    }

    private struct State: Downstream {
        var upstream = Upstream()
        var events: Queue<(delay: Duration, event: Event)> = []
        var isDelivering = false
        var hasHead = false
        var received = 0
        /// No further event is taken from the network.
        var isCut = false
        /// No further event reaches the receiver.
        var isOver = false
    }

    private let plan: FaultPlan
    private let rate: Int?
    private let limit: Duration
    private let time: DelayTime
    private let receiver: any TransportReceiver
    private let queue = DispatchQueue(label: "waystation.faults")
    private let state = Mutex(State())

    init(
        _ plan: FaultPlan,
        _ rate: Int?,
        _ limit: Duration?,
        _ time: DelayTime,
        _ receiver: any TransportReceiver
    ) {
        self.plan = plan
        self.rate = rate
        self.limit = limit ?? .seconds(Int64.max)
        self.time = time
        self.receiver = receiver
        _ = state.withLock { $0.upstream.begin(1) }
    }

    func begin(_ below: any TransportExchange) { state.take(below, 1) }

    // MARK: - The exchange of the receiver

    func cancel() {
        let left = state.withLock { state in
            state.isOver = true
            return state.upstream.leave(.cancelling)
        }
        left?.carryOut()
    }

    func pause() { state.pause(true) }
    func resume() { state.pause(false) }

    // MARK: - The events of the network

    func transportDidReceive(_ head: ResponseHead) { add(.head(head)) }

    func transportDidReceive(_ part: Data) { add(.part(part)) }

    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        add(.sent(count, total: total, expected: expected))
    }

    func transportDidEnd(_ error: (any Error)?) {
        _ = state.withLock { $0.upstream.end() }
        add(.end(error))
    }

    private func add(_ event: Event) {
        let cut: Upstream.Left? = state.withLock { state in
            guard !state.isCut, !state.isOver else { return nil }
            switch event {
            case .head:
                state.hasHead = true
                state.events.append((plan.delay, event))
            case .sent: state.events.append((.zero, event))
            case .end:
                // An error in place of a response arrives as late as the response would.
                state.events.append((state.hasHead ? .zero : plan.delay, event))
            case .part(let part):
                let rest = plan.loss.map { $0.count - state.received } ?? .max
                state.received += part.count
                if rest > 0 {
                    let kept = rest < part.count ? part.prefix(rest) : part
                    let duration: Duration = rate.map { .seconds(Double(kept.count) / Double(max(1, $0))) } ?? .zero
                    state.events.append((duration, .part(Data(kept))))
                }
                guard let loss = plan.loss, rest < part.count else { return nil }
                state.isCut = true
                state.events.append((.zero, .end(URLError(loss.error))))
                return state.upstream.leave(.cancelling)
            }
            return nil
        }
        cut?.carryOut()
        goOn()
    }

    /// Delivers the events in their order, one after the other.
    private func goOn() {
        let next: (delay: Duration, event: Event)? = state.withLock { state in
            guard !state.isDelivering, !state.isOver, let next = state.events.popFirst() else { return nil }
            state.isDelivering = true
            return next
        }
        guard let next else { return }
        let isLate = next.delay >= limit
        after(min(next.delay, limit)) {
            self.deliver(isLate ? .end(URLError(.timedOut)) : next.event)
            if isLate { self.state.withLock { $0.upstream.leave(.cancelling) }?.carryOut() }
            self.state.withLock { $0.isDelivering = false }
            self.goOn()
        }
    }

    private func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) {
        if time == .virtual || delay <= .zero { return queue.async(execute: work) }
        queue.asyncAfter(deadline: .now() + delay / .seconds(1), execute: work)
    }

    private func deliver(_ event: Event) {
        let isOver = state.withLock { state in
            let wasOver = state.isOver
            if case .end = event { state.isOver = true }
            return wasOver
        }
        guard !isOver else { return }
        switch event {
        case .head(let head): receiver.transportDidReceive(head)
        case .part(let part): receiver.transportDidReceive(part)
        case .sent(let count, let total, let expected):
            receiver.transportDidSend(count, total: total, expected: expected)
        case .end(let error): receiver.transportDidEnd(error)
        }
    }
}

/// The SplitMix64 generator: the same seed gives the same numbers, each time and on every machine.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator that begins at a seed.
    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// The faults of one exchange.
package struct FaultPlan {
    /// The time until the head of the response.
    package let delay: Duration
    /// The response in place of that of the network; nil if the network answers.
    let answer: ScriptedTransport.Answer?
    /// The bytes of the response's body before it breaks off, and the error; nil if it is whole.
    let loss: (count: Int, error: URLError.Code)?

    /// Chooses the faults of a request.
    ///
    /// - Parameters:
    ///   - faults: The faults of the network.
    ///   - request: The request.
    ///   - sent: The bytes of the request's body.
    ///   - number: The number of requests with the same method and URL before this one.
    ///   - isFirst: Whether the request is the first one to its host.
    package init(_ faults: Faults, _ request: URLRequest, sent: Int, number: Int, isFirst: Bool) {
        var chance = SeededGenerator(seed: Self.seed(faults.seed, request, number))
        var delay = faults.latency.bounded + (isFirst ? faults.slowStart.bounded : .zero)
        let jitter = faults.jitter.bounded
        if jitter > .zero { delay += jitter * Double.random(in: -1...1, using: &chance) }
        if let rate = faults.sentBytesPerSecond { delay += .seconds(Double(sent) / Double(max(1, rate))) }
        self.delay = max(.zero, delay)
        let fails = faults.probability >= 1 || Double.random(in: 0..<1, using: &chance) < faults.probability
        switch fails ? faults.failure?.kind : nil {
        case .instead(let codes)?:
            answer = .failed(codes.randomElement(using: &chance) ?? .unknown)
            loss = nil
        case .portal(let page)?:
            let isSecure = request.url?.isHTTPS == true
            let fields = ["Content-Type": "text/html", "Content-Length": "\(page.count)", "Cache-Control": "no-store"]
            answer = isSecure ? .failed(.serverCertificateUntrusted) : .status(200, fields: fields, body: page)
            loss = nil
        case .after(let bytes, let code)?:
            answer = nil
            loss = (max(0, bytes), code)
        case nil:
            answer = nil
            loss = nil
        }
    }

    /// A seed that is the same in every process (FNV-1a).
    private static func seed(_ seed: UInt64, _ request: URLRequest, _ number: Int) -> UInt64 {
        let text = "\(seed) \(request.httpMethod ?? "GET") \(request.url?.absoluteString ?? "") \(number)"
        return text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}

/// How delays in tests pass.
public enum DelayTime: Sendable {
    /// At once: no test waits. A delay counts against the request's `timeoutInterval` all the same.
    case virtual
    /// As on a clock.
    case real
}
