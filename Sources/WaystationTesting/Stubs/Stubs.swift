import Synchronization
public import Waystation
public import WaystationFoundation
import WaystationHTTP

/// Answers in place of the network, for tests of code that uses `URLSession`.
///
/// ```swift
/// let stubs = try Stubs {
///     Stub(.get("https://api.example/weather"), .json(["celsius": 21]))
///     Stub(.post("https://api.example/orders").json("item", "tea"), .status(201)).once()
/// }
/// let client = WeatherClient(session: try stubs.makeSession())
/// #expect(try await client.celsius() == 21)
/// try stubs.verify()
/// ```
///
/// Stubs are strict: a request that no stub answers fails with an error that names the nearest stubs and the reasons why
/// they do not answer, and ``verify()`` reports it once more, for code under test that ignores errors. The first stub
/// that takes a request and may still be asked answers it. Nothing reaches the network, and no load waits: delays and
/// time-outs pass in virtual time.
///
/// Data tasks, downloads, and uploads from `Data` or files are answered; their bodies are read before a stub is chosen.
/// Uploads of streams that a delegate provides, and web sockets, fail with an explanation, because only Foundation can
/// load them; ``WaystationOrigin/ScriptedOrigin`` answers both. Cookies in answers are put into the storage of the session,
/// and sent with its next requests.
///
/// All members may be called from any thread. A stub counts a cancelled load as a load that asked it.
public final class Stubs: Sendable {
    fileprivate struct State {
        var entries: [StubEntry]
        var calls: [StubbedRequest] = []
        var failures: [StubError] = []
        /// The stub that was asked last, for stubs that have an order.
        var position = 0
    }

    private let isOrdered: Bool
    fileprivate let time: DelayTime
    private let state: Mutex<State>

    /// Makes stubs.
    ///
    /// - Parameters:
    ///   - isOrdered: Whether the stubs must be asked in the order in which they are written; false by default. A stub
    ///     may be asked again only until a later one is asked.
    ///   - time: How delays pass; in virtual time by default.
    ///   - stubs: The stubs.
    /// - Throws: ``StubError`` with the code `invalidPattern`.
    public init(
        inOrder isOrdered: Bool = false,
        time: DelayTime = .virtual,
        @StubsBuilder _ stubs: () throws -> [Stub]
    ) throws {
        self.isOrdered = isOrdered
        self.time = time
        state = Mutex(State(entries: try stubs().map { try StubEntry($0) }))
    }

    /// Adds a stub behind the present ones.
    ///
    /// - Throws: ``StubError`` with the code `invalidPattern`.
    public func add(_ stub: Stub) throws(StubError) {
        let entry = try StubEntry(stub)
        state.withLock { $0.entries.append(entry) }
    }

    // MARK: - Installing

    /// Makes an interceptor that answers every request by the stubs.
    ///
    /// - Parameters:
    ///   - rules: Rules that come first, for requests that the stubs shall not see; none by default.
    ///   - faults: Faults of the network on the way; none by default.
    /// - Returns: The interceptor, which keeps the stubs.
    /// - Throws: ``Waystation/WaystationError`` if a rule is not valid.
    public func makeInterceptor(rules: [Rule] = [], faults: Faults = .none) throws -> Interceptor {
        try Interceptor.carryingAll(by: faults.applied(to: self, time: time), as: "stubs", after: rules)
    }

    /// Makes a session whose requests are answered by the stubs.
    ///
    /// - Parameters:
    ///   - configuration: The configuration that the session would otherwise have; `.ephemeral` by default.
    ///   - faults: Faults of the network on the way; none by default.
    /// - Returns: The session, which keeps the stubs.
    /// - Throws: ``Waystation/WaystationError`` if the interceptor cannot be made.
    public func makeSession(
        _ configuration: URLSessionConfiguration = .ephemeral,
        faults: Faults = .none
    ) throws -> URLSession {
        URLSession(configuration: configuration.intercepted(by: try makeInterceptor(faults: faults)))
    }

    // MARK: - Results

    /// The requests so far, in their order, also those that no stub answered.
    public var calls: [StubbedRequest] { state.withLock { $0.calls } }

    /// The requests so far that a pattern takes.
    ///
    /// - Throws: ``StubError`` with the code `invalidPattern`.
    public func calls(
        to pattern: RequestPattern,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(StubError) -> [StubbedRequest] {
        let entry = try StubEntry(Stub(pattern, fileID: fileID, line: line))
        return calls.filter(entry.takes)
    }

    /// Checks that every request was answered, and that each stub was asked as often as it must be.
    ///
    /// - Throws: ``StubError`` with all differences: `several` if there is more than one.
    public func verify() throws(StubError) {
        let errors = state.withLock { state in
            state.failures
                + state.entries.filter { $0.asked < $0.stub.count.lowerBound }.map {
                    StubError.askedTooSeldom($0.stub, asked: $0.asked)
                }
        }
        if let error = StubError.all(errors) { throw error }
    }

    // MARK: - Answering

    /// Chooses the stub that answers a request, and counts the request.
    private func choose(_ request: StubbedRequest) throws(StubError) -> (stub: Stub, asked: Int) {
        let entries = state.withLock { state in
            state.calls.append(request)
            return state.entries
        }
        // Conditions may be code of the test, which may ask these stubs or wait for another load: no lock is held.
        let taking = Set(entries.indices.filter { entries[$0].takes(request) })
        let chosen: Result<(Stub, Int)?, StubError> = state.withLock { state in
            do throws(StubError) {
                return .success(try state.take(request, byOneOf: taking, isOrdered: isOrdered))
            } catch {
                state.failures.append(error)
                return .failure(error)
            }
        }
        if let chosen = try chosen.get() { return chosen }
        let failure = StubError.noMatch(request, nearest: entries.nearest(to: request))
        state.withLock { $0.failures.append(failure) }
        throw failure
    }

    private func answer(_ request: URLRequest) -> ScriptedTransport.Answer {
        StubbedRequest(request).answer { request in
            let (stub, asked) = try choose(request)
            return try stub.answer(to: request, after: asked)
        } onUnusable: { failure in
            state.withLock { $0.failures.append(failure) }
        }
    }
}

extension Stubs.State {
    /// Counts a request for the first of the stubs that take it that may still be asked.
    ///
    /// - Returns: The stub, and how often it was asked before; nil if no stub takes the request.
    fileprivate mutating func take(
        _ request: StubbedRequest,
        byOneOf taking: Set<Int>,
        isOrdered: Bool
    ) throws(StubError) -> (Stub, Int)? {
        guard let index = next(isOrdered: isOrdered, where: taking.contains) else {
            guard let last = taking.max(), !isOrdered || last >= position else { return nil }
            entries[last].asked += 1
            throw .askedTooOften(entries[last].stub, asked: entries[last].asked)
        }
        if isOrdered {
            if let missing = missing(before: index) { throw .outOfOrder(request, before: missing) }
            position = index
        }
        defer { entries[index].asked += 1 }
        return (entries[index].stub, entries[index].asked)
    }

    /// Counts a request whose answer is one whole response that no code of the test makes; otherwise changes nothing.
    fileprivate mutating func takeResident(_ request: StubbedRequest, isOrdered: Bool) -> ResidentResponse? {
        guard !entries.contains(where: \.callsTest),
            let index = next(isOrdered: isOrdered, where: { entries[$0].takes(request) }),
            !isOrdered || missing(before: index) == nil,
            let response = entries[index].stub.resident(for: request, after: entries[index].asked)
        else { return nil }
        calls.append(request)
        entries[index].asked += 1
        if isOrdered { position = index }
        return response
    }

    /// The first stub that may still be asked and takes a request.
    private func next(isOrdered: Bool, where takesRequest: (Int) -> Bool) -> Int? {
        entries.indices.dropFirst(isOrdered ? position : 0).first {
            entries[$0].asked < entries[$0].stub.count.upperBound && takesRequest($0)
        }
    }

    /// The first stub before another one that was not asked as often as it must be.
    private func missing(before index: Int) -> Stub? {
        entries[position..<index].first { $0.asked < $0.stub.count.lowerBound }?.stub
    }
}

extension [StubEntry] {
    /// The stubs with the fewest reasons not to answer, at most three.
    fileprivate func nearest(to request: StubbedRequest) -> [(stub: Stub, reasons: [String])] {
        map { ($0.stub, reasons: $0.mismatches(request)) }.enumerated()
            .sorted { ($0.element.reasons.count, $0.offset) < ($1.element.reasons.count, $1.offset) }
            .prefix(3).map { ($0.element.0, $0.element.reasons.isEmpty ? ["its turn is over"] : $0.element.reasons) }
    }
}

extension Stubs: Transport {
    /// Answers a request by the stubs.
    public func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        let transport = time == .virtual ? .inVirtualTime { self.answer($0) } : ScriptedTransport { self.answer($0) }
        return transport.start(request, receiver: receiver)
    }
}

extension Stubs: ResidentTransport {
    /// Answers a request at once by a stub whose answer needs no code of the test.
    package func residentResponse(to request: URLRequest) -> ResidentResponse? {
        let asked = StubbedRequest(request)
        return state.withLock { $0.takeResident(asked, isOrdered: isOrdered) }
    }
}

extension Route {
    /// Stubs, in place of the network.
    ///
    /// ```swift
    /// $0.rules = [.allow("https://api.example/**", via: .stubs(stubs))]
    /// ```
    ///
    /// Their answers are not stored in the cache. To test rules with a cache above stubs, set
    /// `$0.makeTransport = { _ in stubs }`.
    public static func stubs(_ stubs: Stubs) -> Route { .carried(by: stubs, as: "stubs") }

    /// Stubs, in place of the network, with faults on the way to them.
    ///
    /// - Parameters:
    ///   - stubs: The stubs.
    ///   - faults: The faults, whose delays pass in the time of the stubs.
    /// - Returns: The route.
    public static func stubs(_ stubs: Stubs, faults: Faults) -> Route {
        .carried(by: faults.applied(to: stubs, time: stubs.time), as: "stubs(faults)")
    }

    /// An answer that is made for each request, in place of the network.
    ///
    /// - Parameter answer: Returns the answer; called on any thread. An error fails the load with an explanation.
    /// - Returns: The route.
    public static func stub(_ answer: @escaping @Sendable (StubbedRequest) throws -> StubAnswer) -> Route {
        .carried(by: StubRoute(answer: answer), as: "stub")
    }
}

/// Answers each request with one closure.
private struct StubRoute: Transport {
    let answer: @Sendable (StubbedRequest) throws -> StubAnswer

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        let transport = ScriptedTransport.inVirtualTime { StubbedRequest($0).answer(answer) }
        return transport.start(request, receiver: receiver)
    }
}

extension StubbedRequest {
    /// Returns the events of an answer; if the answer cannot be made, the load fails with an error that gives the reason.
    fileprivate func answer(
        _ answer: (StubbedRequest) throws -> StubAnswer,
        onUnusable: (StubError) -> Void = { _ in }
    ) -> ScriptedTransport.Answer {
        do { return try answer(self).answer(to: self) } catch {
            let failure = StubError.unusableAnswer(to: self, error)
            if failure.code == .unusableAnswer { onUnusable(failure) }
            return ScriptedTransport.Answer([.error(failure.urlError(request.url))])
        }
    }
}

/// A stub with its compiled pattern, and the number of requests that it was asked for.
struct StubEntry: Sendable {
    let stub: Stub
    var asked = 0
    /// Whether code of the test decides about requests.
    let callsTest: Bool
    private let table: RuleTable<Void>

    init(_ stub: Stub) throws(StubError) {
        self.stub = stub
        callsTest = stub.pattern.conditions.contains(where: \.callsTest)
        let methods = stub.pattern.method.map { Set([$0]) }
        let definition = RuleDefinition(stub.pattern.url, methods: methods, action: ())
        do { table = try RuleTable([definition]) } catch {
            throw .invalidPattern(stub, error.problems.first?.error ?? error)
        }
    }

    /// Whether the stub takes a request.
    func takes(_ request: StubbedRequest) -> Bool {
        guard let plain = request.ruleRequest, table.match(plain) != nil else { return false }
        return stub.pattern.conditions.allSatisfy { $0.mismatch(request) == nil }
    }

    /// The reasons why the stub does not take a request; empty if it takes it.
    func mismatches(_ request: StubbedRequest) -> [String] {
        guard let plain = request.ruleRequest else { return ["the URL is not absolute"] }
        let decision = table.decision(for: plain)
        guard case .unmatched(let closest) = decision else {
            return stub.pattern.conditions.compactMap { $0.mismatch(request) }
        }
        // Conditions on the body would hide the reason that the request is another one.
        return closest.first?.reasons.map(\.description) ?? ["the URL does not match"]
    }
}
