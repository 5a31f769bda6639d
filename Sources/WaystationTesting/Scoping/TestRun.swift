import Foundation
import Synchronization
import Testing
import WaystationRecording

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
