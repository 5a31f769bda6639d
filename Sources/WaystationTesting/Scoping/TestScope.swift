import Synchronization
import Testing
import Waystation
public import WaystationFoundation
import WaystationRecording

/// The network of the test that runs.
struct TestScope: Sendable {
    /// The scope of the present task and of its child tasks.
    @TaskLocal static var current: TestScope?

    let interceptor: Interceptor
    /// The network of the sessions that are not of ``FoundationNetworking/URLSessionConfiguration/ofTest``; nil if these
    /// sessions load as outside of a test.
    let network: ScopedNetwork?
    /// Nil if the network of the scope is a recording.
    let stubs: Stubs?

    init(_ interceptor: Interceptor, reaching sessions: ReachedSessions, stubs: Stubs? = nil) {
        self.interceptor = interceptor
        self.stubs = stubs
        network = sessions == .all ? ScopedNetwork(interceptor) : nil
        // In a program that links Foundation statically, no call of it is observed.
        if sessions == .all { SharedSession.reach(.shared) }
    }

    /// Makes something outside of every test, such as the network of a recording.
    static func outside<Result>(_ make: () throws -> Result) rethrows -> Result {
        try $current.withValue(nil) { try make() }
    }
}

extension URLSessionConfiguration {
    /// A configuration for sessions that load from the stubs or the recording of the test that runs, wherever their loads
    /// begin.
    ///
    /// It is that of ``Testing/Trait/stubbed(inOrder:time:faults:reaching:_:)``,
    /// ``Testing/Trait/recorded(_:mode:matching:faults:reaching:file:)`` or
    /// ``withStubs(inOrder:time:faults:reaching:_:perform:)`` around the present task. Outside of such a test, every
    /// load fails with `URLError.resourceUnavailable` and an explanation, so that no test reaches the network by
    /// mistake.
    public static var ofTest: URLSessionConfiguration {
        let configuration = TestScope.outside { URLSessionConfiguration.ephemeral }
        if let interceptor = TestScope.current?.interceptor ?? outside {
            return configuration.intercepted(by: interceptor)
        }
        // Without a protocol class a session loads nothing.
        configuration.protocolClasses = []
        return configuration
    }

    private static let outside = try? Interceptor.carryingAll(
        by: ScriptedTransport { request in
            ScriptedTransport.Answer([.error(StubError.outsideOfTest.urlError(request.url))])
        },
        as: "outside of a test",
        after: []
    )
}

extension Stubs {
    /// The stubs of the test that runs; nil outside of a test with stubs.
    public static var ofTest: Stubs? { TestScope.current?.stubs }
}

/// Runs code whose sessions load from stubs, and verifies them.
///
/// ```swift
/// try await withStubs {
///     Stub(.get("https://api.example/weather"), .json(["celsius": 21]))
/// } perform: { _ in
///     let client = WeatherClient()  // loads by URLSession.shared
///     let celsius = try await client.celsius()
///     XCTAssertEqual(celsius, 21)
/// }
/// ```
///
/// It is the trait ``Testing/Trait/stubbed(inOrder:time:faults:reaching:_:)`` for XCTest and other places.
/// ``ReachedSessions`` lists the loads that are answered.
///
/// - Parameters:
///   - isOrdered: Whether the stubs must be asked in the order in which they are written; false by default.
///   - time: How delays pass; in virtual time by default.
///   - faults: Faults of the network on the way; none by default.
///   - sessions: The sessions whose loads are answered; all that can be reached by default.
///   - stubs: The stubs.
///   - body: The code.
/// - Returns: The result of the code.
/// - Throws: The error of the code, or otherwise ``StubError`` with all differences.
public func withStubs<Result>(
    inOrder isOrdered: Bool = false,
    time: DelayTime = .virtual,
    faults: Faults = .none,
    reaching sessions: ReachedSessions = .all,
    @StubsBuilder _ stubs: () throws -> [Stub],
    perform body: (Stubs) async throws -> Result
) async throws -> Result {
    let stubs = try Stubs(inOrder: isOrdered, time: time, stubs)
    let scope = TestScope(try stubs.makeInterceptor(faults: faults), reaching: sessions, stubs: stubs)
    let result = try await TestScope.$current.withValue(scope) { try await body(stubs) }
    try stubs.verify()
    return result
}

extension StubError {
    fileprivate static var outsideOfTest: StubError {
        StubError(
            code: .outsideOfTest,
            message: """
                URLSessionConfiguration.ofTest was used outside of a test with stubs or a recording: add the trait \
                .stubbed { … } or .recorded("…") to the test, or call withStubs
                """
        )
    }
}

/// One run of a test with a network of its own.
struct TestRun {
    private let test: Test
    private let testCase: Test.Case?

    init(_ test: Test, _ testCase: Test.Case?) {
        self.test = test
        self.testCase = testCase
    }

    /// Runs a test within a scope, verifies its network, and attaches the exchanges if something failed.
    ///
    /// `verify` is not called for a test that ends by an error.
    func perform(
        _ function: @Sendable () async throws -> Void,
        in makeScope: (HARRecorder) throws -> TestScope,
        verify: (_ hasFailed: Bool) throws -> Void
    ) async throws {
        let recorder = HARRecorder()
        let scope = try makeScope(recorder)
        let hasFailed = Atomic(false)
        let noticing = IssueHandlingTrait.compactMapIssues { issue in
            hasFailed.store(true, ordering: .relaxed)
            return issue
        }
        defer { if hasFailed.load(ordering: .relaxed) { attach(recorder) } }
        do {
            try await noticing.provideScope(for: test, testCase: testCase) {
                try await TestScope.$current.withValue(scope) { try await function() }
            }
            try verify(hasFailed.load(ordering: .relaxed))
        } catch {
            hasFailed.store(true, ordering: .relaxed)
            throw error
        }
    }

    private func attach(_ recorder: HARRecorder) {
        guard recorder.count > 0 else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(recorder.shareableArchive()) else { return }
        Attachment.record(Array(data), named: "\(test.name).har", sourceLocation: test.sourceLocation)
    }
}
