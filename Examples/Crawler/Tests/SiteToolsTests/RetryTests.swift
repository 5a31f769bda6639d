import Foundation
import FoundationNetworking
import Testing

@testable import SiteTools

@Suite("Retries")
struct RetryTests {
    private static let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    @Test(
        "Retry-After is read in seconds and in the three forms of a date",
        arguments: [
            ("0", 0), ("120", 120), (" 7 ", 7), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
            ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
            ("soon", nil), ("-5", nil), ("", nil), ("1.5", nil), ("Sun, 06 Foo 1994 08:50:37 GMT", nil),
        ] as [(String, Int?)]
    )
    func retryAfter(field: String, seconds: Int?) {
        #expect(RetryAfter.delay(field, now: Self.now) == seconds.map { .seconds($0) })
    }

    @Test("a Retry-After pauses its host, and one that is too long ends the attempts")
    func servers() {
        let policy = RetryPolicy()
        func decision(_ status: Int, _ field: String?, attempt: Int = 1) -> RetryPolicy.Decision {
            policy.decision(status: status, retryAfter: field, attempt: attempt, now: Self.now, jitter: 0.5)
        }
        #expect(decision(429, "3") == .retry(after: .seconds(3), pausesHost: true))
        #expect(decision(503, "3") == .retry(after: .seconds(3), pausesHost: true))
        #expect(decision(503, "99999") == .giveUp)
        #expect(decision(500, "3") == .retry(after: .milliseconds(500), pausesHost: false))
        #expect(decision(429, nil, attempt: 3) == .retry(after: .seconds(2), pausesHost: false))
        #expect(decision(429, "3", attempt: 5) == .giveUp)
        #expect(decision(404, nil) == .giveUp)
        #expect(decision(501, nil) == .giveUp)
    }

    @Test("lost connections are tried again, permanent errors are not")
    func errors() {
        let policy = RetryPolicy(retries: 2)
        #expect(
            policy.decision(error: .timedOut, attempt: 2, jitter: 0.5) == .retry(after: .seconds(1), pausesHost: false)
        )
        #expect(policy.decision(error: .timedOut, attempt: 3) == .giveUp)
        #expect(policy.decision(error: .unsupportedURL, attempt: 1) == .giveUp)
    }
}
