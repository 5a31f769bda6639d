import Foundation
import HTTPTypes
import Testing
import WaystationHTTP

@testable import WaystationPacks

@Suite struct RetryAfterTests {
    // Sun, 06 Nov 1994 08:49:37 GMT.
    private let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        "RFC 9110 §10.2.3: seconds, or a date; at most a day, and never negative",
        arguments: [
            ("120", 120), ("0", 0), (" 5 ", 5), ("99999999", 86_400), ("99999999999999999999", 86_400),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sunday, 06-Nov-94 08:50:37 GMT", 60),
            ("Sun Nov  6 08:50:37 1994", 60), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
            ("Sun, 06 Nov 2050 08:49:37 GMT", 86_400),
        ]
    )
    func delay(value: String, seconds: Int) {
        #expect(RetryAfter.delay(in: [.retryAfter: value], now: now) == .seconds(seconds))
    }

    @Test("Any other value is ignored", arguments: ["", "soon", "-5", "+5", "1.5", "5 minutes"])
    func nonsense(value: String) {
        #expect(RetryAfter.delay(in: [.retryAfter: value], now: now) == nil)
        #expect(RetryAfter.delay(in: [:], now: now) == nil)
    }
}
