public import Testing
import Waystation

/// Answers the loads of a test by stubs; see ``Testing/Trait/stubbed(inOrder:time:faults:reaching:_:)``.
public struct StubbedTrait: TestTrait, SuiteTrait, TestScoping {
    fileprivate let isOrdered: Bool
    fileprivate let time: DelayTime
    fileprivate let faults: Faults
    fileprivate let sessions: ReachedSessions
    fileprivate let stubs: @Sendable () throws -> [Stub]

    /// True: each test of a suite has stubs of its own.
    public var isRecursive: Bool { true }

    /// Runs a test with stubs of its own, and verifies them.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let stubs = try Stubs(inOrder: isOrdered, time: time, self.stubs)
        try await TestRun(test, testCase).perform(function) { recorder in
            let interceptor = try Interceptor.carryingAll(
                by: faults.applied(to: stubs, time: time),
                as: "stubs",
                after: [],
                recorder: recorder
            )
            return TestScope(interceptor, reaching: sessions, stubs: stubs)
        } verify: { _ in
            try stubs.verify()
        }
    }
}

extension Trait where Self == StubbedTrait {
    /// Answers the loads of a test by stubs of its own, and verifies them at its end.
    ///
    /// ```swift
    /// @Test(
    ///     .stubbed {
    ///         Stub(.get("https://api.example/weather"), .json(["celsius": 21]))
    ///     }
    /// )
    /// func weather() async throws {
    ///     let client = WeatherClient()  // loads by URLSession.shared
    ///     #expect(try await client.celsius() == 21)
    /// }
    /// ```
    ///
    /// `URLSession.shared` and the sessions that are made in the test load from the stubs; ``ReachedSessions`` lists the
    /// few that do not. ``Stubs/ofTest`` has the calls. Tests may run in parallel: each sees its own stubs only. The
    /// exchanges of a test that fails are attached as a HAR file without secrets.
    ///
    /// - Parameters:
    ///   - isOrdered: Whether the stubs must be asked in the order in which they are written; false by default.
    ///   - time: How delays pass; in virtual time by default.
    ///   - faults: Faults of the network on the way; none by default.
    ///   - sessions: The sessions whose loads are answered; all that can be reached by default.
    ///   - stubs: The stubs; made anew for each test and each of its cases.
    /// - Returns: The trait.
    public static func stubbed(
        inOrder isOrdered: Bool = false,
        time: DelayTime = .virtual,
        faults: Faults = .none,
        reaching sessions: ReachedSessions = .all,
        @StubsBuilder _ stubs: @escaping @Sendable () throws -> [Stub]
    ) -> StubbedTrait {
        StubbedTrait(isOrdered: isOrdered, time: time, faults: faults, sessions: sessions, stubs: stubs)
    }
}
