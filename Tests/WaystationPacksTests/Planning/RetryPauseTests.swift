import Foundation
import Testing
import WaystationHTTP

@testable import WaystationPacks

@Suite("The pause after a failure")
struct RetryPauseTests {
    @Test("doubles from a minute to an hour")
    func doubling() {
        let minutes = (1...8).map { RetryPause().duration(after: $0).inSeconds / 60 }
        #expect(minutes == [1, 2, 4, 8, 16, 32, 60, 60])
    }

    @Test("is bounded for all numbers")
    func oddNumbers() {
        #expect(RetryPause().duration(after: .max) == .seconds(3600))
        #expect(RetryPause().duration(after: .min) == .seconds(60))
        #expect(RetryPause(first: .seconds(-1)).duration(after: 9) == .zero)
        #expect(RetryPause(first: .seconds(9), longest: .seconds(2)).duration(after: 1) == .seconds(2))
        #expect(RetryPause(first: .zero).duration(after: 9) == .zero)
        #expect(RetryPause(longest: .seconds(Int64.max)).duration(after: .max) == .seconds(Int64.max))
    }

    @Test("of a way grows only with its own failures, and a record holds a bounded number of them")
    func record() throws {
        var record = ModuleRecord()
        let now = Sample.moment
        let whole = FailedUpdate(to: nil, way: .whole, digest: PackDigest(of: Data("a".utf8)), retryAt: now)
        let other = FailedUpdate(to: nil, way: .whole, digest: PackDigest(of: Data("b".utf8)), retryAt: now)
        record.note(whole, pausing: RetryPause(), at: now.addingTimeInterval(-100_000))
        for _ in 0..<3 { record.note(whole, pausing: RetryPause(), at: now) }
        record.note(other, pausing: RetryPause(), at: now)
        #expect(record.failures.map(\.attempts) == [3, 1])
        #expect(record.failures.map { $0.retryAt.timeIntervalSince(now) } == [240, 60])
        for number in 0..<200 {
            let digest = PackDigest(of: Data("\(number)".utf8))
            let failure = FailedUpdate(to: nil, way: .whole, digest: digest, retryAt: now)
            record.note(failure, pausing: RetryPause(), at: now)
        }
        #expect(record.failures.count == ModuleRecord.failureLimit)
        let later = now.addingTimeInterval(100_000)
        record.note(whole, pausing: RetryPause(), at: later)
        #expect(record.failures.count == 1)
        let date = now.formatted(.iso8601)
        let json = Data(#"{"attempts":9223372036854775807,"retryAt":"\#(date)","way":"whole"}"#.utf8)
        record.failures = [try ModuleRecord.decoder.decode(FailedUpdate.self, from: json)]
        record.note(FailedUpdate(to: nil, way: .whole, retryAt: now), pausing: RetryPause(), at: now)
        #expect(record.failures.map { $0.retryAt.timeIntervalSince(now) } == [3600])
    }
}
