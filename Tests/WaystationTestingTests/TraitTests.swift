import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite(.timeLimit(.minutes(10)))
struct TraitTests {
    @Test(.stubbed { Stub(.get("https://api.example/weather"), .json(["celsius": 21])).once() })
    func `the stubs of a trait answer the test's sessions`() async throws {
        let session = URLSession(configuration: .ofTest)
        #expect(try await session.load("https://api.example/weather").text == #"{"celsius":21}"#)
        #expect(Stubs.ofTest?.calls.count == 1)
    }

    @Test(.stubbed(faults: .offline) { Stub(.get("https://api.example/weather")).times(0) })
    func `a trait has faults, too`() async {
        let session = URLSession(configuration: .ofTest)
        #expect(await session.failure("https://api.example/weather")?.code == .notConnectedToInternet)
    }

    @Test func `each test at the same time has its own stubs`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    try await withStubs {
                        Stub(.get("https://api.example/same"), .ok("\(number)")).times(10)
                    } perform: { _ in
                        for _ in 0..<10 {
                            let session = URLSession(configuration: .ofTest)
                            let text = try await session.load("https://api.example/same").text
                            #expect(text == "\(number)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `code that leaves stubs unasked fails at its end`() async {
        let error = await #expect(throws: StubError.self) {
            try await withStubs {
                Stub(.get("https://api.example/a")).once()
            } perform: { _ in
            }
        }
        #expect(error?.code == .askedTooSeldom)
    }

    @Test func `outside of a test with stubs every load fails with an explanation`() async {
        let error = await URLSession(configuration: .ofTest).failure("https://api.example/")
        #expect(error?.code == .resourceUnavailable)
        #expect(
            error?.localizedDescription == """
                URLSessionConfiguration.ofTest was used outside of a test with stubs or a recording: add the trait \
                .stubbed { … } or .recorded("…") to the test, or call withStubs
                """
        )
    }

    @Test func `stubs of a trait that are left unasked fail the test`() async throws {
        try await withKnownIssue {
            try await TraitRun.stubbed {
                Stub(.get("https://api.example/a")).once()
            } performing: {
                _ = await URLSession(configuration: .ofTest).failure("https://api.example/b")
            }
        } matching: { issue in
            let error = issue.error as? StubError
            return error?.code == .several
                && error?.message.contains("no stub answers GET https://api.example/b") ?? false
        }
    }
}

@Suite(.recorded(mode: .replay))
struct RecordedTraitTests {
    @Test func replayed() async throws {
        let session = URLSession(configuration: .ofTest)
        #expect(try await session.load("https://api.example/recorded").text == "from the file")
    }
}

/// The suite and its test have names that give the same file, as the tests of two suites may have.
@Suite(.noted)
struct SharedRecording {
    @Test func `SharedRecording!`() async throws {
        let trait: RecordedTrait = .recorded(mode: .passthrough)
        let first = try #require(NotedSuite.suite)
        let second = try #require(Test.current)
        // The same test may run more than once.
        for _ in 0..<2 { try await trait.provideScope(for: first, testCase: nil) {} }
        let error = await #expect(throws: StubError.self) {
            try await trait.provideScope(for: second, testCase: Test.Case.current) {}
        }
        #expect(error?.code == .sharedRecording)
        #expect(error?.message.contains("TraitTests/SharedRecording.har") == true)
    }
}

/// Keeps the suite of a test, for the test itself.
private struct NotedSuite: SuiteTrait, TestScoping {
    @TaskLocal static var suite: Test?

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.$suite.withValue(test) { try await function() }
    }
}

extension Trait where Self == NotedSuite {
    fileprivate static var noted: NotedSuite { NotedSuite() }
}

/// Runs a trait as Swift Testing does.
private enum TraitRun {
    static func stubbed(
        @StubsBuilder _ stubs: @escaping @Sendable () throws -> [Stub],
        performing function: @escaping @Sendable () async throws -> Void
    ) async throws {
        let test = try #require(Test.current)
        let trait: StubbedTrait = .stubbed(stubs)
        try await trait.provideScope(for: test, testCase: Test.Case.current, performing: function)
    }
}
