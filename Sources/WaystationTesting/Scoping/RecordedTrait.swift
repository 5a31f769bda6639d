package import Foundation
import Synchronization
public import Testing
import Waystation

/// Answers the loads of a test by a recording; see ``Testing/Trait/recorded(_:mode:matching:faults:reaching:file:)``.
public struct RecordedTrait: TestTrait, SuiteTrait, TestScoping {
    fileprivate let name: String
    fileprivate let mode: RecordingMode
    fileprivate let parts: [RecordedPart]
    fileprivate let faults: Faults
    fileprivate let sessions: ReachedSessions
    fileprivate let folder: URL

    /// True: each test of a suite has a recording of its own.
    public var isRecursive: Bool { true }

    /// Runs a test with its recording, and verifies it.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        guard !test.isParameterized else { throw StubError.parameterized(test.name) }
        let file = file(for: test)
        let place = test.sourceLocation
        try RecordingOwners.claim(file, for: "\(test.name) (\(place.fileID):\(place.line))")
        let recording = try TestScope.outside { try Recording(file, mode: mode, matching: parts) }
        for warning in recording.warnings {
            Issue.record(Comment(rawValue: warning), severity: .warning, sourceLocation: test.sourceLocation)
        }
        try await TestRun(test, testCase).perform(function) { recorder in
            let interceptor = try Interceptor.carryingAll(
                by: faults.applied(to: recording),
                as: "recorded",
                after: [],
                recorder: recorder
            )
            return TestScope(interceptor, reaching: sessions)
        } verify: { hasFailed in
            if hasFailed, let note = recording.keepPredecessor() {
                Issue.record(Comment(rawValue: note), severity: .warning, sourceLocation: test.sourceLocation)
            }
            try recording.verify()
        }
    }

    private func file(for test: Test) -> URL {
        let own = test.name.map { $0.isLetter || $0.isNumber || "-_".contains($0) ? $0 : "-" }
        return folder.appending(path: "\(name)/\(String(own).trimmingDashes).har")
    }
}

extension Trait where Self == RecordedTrait {
    /// Answers the loads of a test by a recording, which the first run makes; see ``Recording``.
    ///
    /// ```swift
    /// @Suite(.recorded("orders"))
    /// struct OrderTests {
    ///     @Test func list() async throws {  // Recordings/orders/list.har, beside the file of the test
    ///         let client = OrderClient()  // loads by URLSession.shared
    ///         #expect(try await client.orders().count == 2)
    ///     }
    /// }
    /// ```
    ///
    /// Each test has a file of its own, with its name, in the folder `Recordings` beside the source. A test with arguments
    /// fails, because its cases would share a file. If two tests have the same file, one of them fails: tests of the same
    /// name, in two suites of a source file, need traits with different names.
    ///
    /// - Parameters:
    ///   - name: A folder within `Recordings`; nil, the default, for the name of the source file.
    ///   - mode: Whether requests are recorded, replayed or passed on; `once` by default. `WAYSTATION_RECORD` overrides it.
    ///   - parts: The parts that a request and its entry have in common; the method and the URL by default.
    ///   - faults: Faults of the network on the way; none by default.
    ///   - sessions: The sessions whose loads are answered; all that can be reached by default.
    ///   - file: The file of the test.
    /// - Returns: The trait.
    public static func recorded(
        _ name: String? = nil,
        mode: RecordingMode = .once,
        matching parts: [RecordedPart] = [.method, .url],
        faults: Faults = .none,
        reaching sessions: ReachedSessions = .all,
        file: String = #filePath
    ) -> RecordedTrait {
        let source = URL(fileURLWithPath: file)
        let folder = source.deletingLastPathComponent().appending(path: "Recordings")
        let name = name ?? source.deletingPathExtension().lastPathComponent
        return RecordedTrait(
            name: name,
            mode: mode,
            parts: parts,
            faults: faults,
            sessions: sessions,
            folder: folder
        )
    }
}

extension String {
    /// The text without the dashes at its ends, as those of `list()`.
    fileprivate var trimmingDashes: String { trimmingCharacters(in: ["-"]) }
}

extension StubError {
    fileprivate static func parameterized(_ name: String) -> StubError {
        StubError(
            code: .parameterized,
            message: """
                \(name) has arguments, so its cases would share a recording: make a Recording with a file of its own in \
                each case
                """
        )
    }
}

/// The tests of this process by the files of their recordings.
package enum RecordingOwners {
    private static let owners = Mutex<[String: String]>([:])

    /// Notes that a test has a recording.
    ///
    /// - Parameters:
    ///   - file: The file of the recording.
    ///   - test: The name of the test and its place in the source.
    /// - Throws: ``StubError`` with the code `sharedRecording` if another test has the same file: the tests would replace
    ///   each other's recording, or replay each other's answers.
    package static func claim(_ file: URL, for test: String) throws(StubError) {
        let path = file.standardizedFileURL.path(percentEncoded: false)
        let owner = owners.withLock { owners in
            let owner = owners[path] ?? test
            owners[path] = owner
            return owner
        }
        if owner != test { throw .shared(file, by: owner, test) }
    }
}

extension StubError {
    fileprivate static func shared(_ file: URL, by owner: String, _ test: String) -> StubError {
        let folder = file.deletingLastPathComponent().lastPathComponent
        return StubError(
            code: .sharedRecording,
            message: """
                \(owner) and \(test) have the same recording, \(folder)/\(file.lastPathComponent): rename one of the \
                tests, or give one of them, or its suite, a folder of its own by a trait such as .recorded("\(folder)-2")
                """
        )
    }
}
