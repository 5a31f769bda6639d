import Foundation
import Testing
import WaystationHTTP

@testable import Waystation

@Suite("Pauses that servers ask for (Retry-After, RFC 9110 §10.2.3)")
struct RequestedPausesTests {
    // Fri, 15 Jan 2027 08:00:00 GMT.
    private let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let key = RequestKey(method: "GET", url: "http://pause.test/")
    private var pauses = RequestedPauses()

    @Test("last from the answer to the time, and end when the clock is set back or the server answers again")
    mutating func length() {
        #expect(!pauses.contains(key, now: start))
        pauses.take(.wait(start..<start + 60), about: key)
        #expect(pauses.contains(key, now: start) && pauses.contains(key, now: start + 59))
        #expect(!pauses.contains(key, now: start + 60) && !pauses.contains(key, now: start - 1))
        #expect(!pauses.contains(RequestKey(method: "GET", url: "http://pause.test/b"), now: start))
        pauses.take(.wait(start + 1..<start + 6), about: key)
        #expect(pauses.contains(key, now: start + 5) && !pauses.contains(key, now: start + 6))
        pauses.take(.goOn, about: key)
        #expect(!pauses.contains(key, now: start + 2))
    }

    @Test("are kept for a limited number of keys")
    mutating func limits() {
        pauses.take(.wait(start..<start + 60), about: key)
        for number in 1...RequestedPauses.limit {
            #expect(pauses.contains(key, now: start))
            let other = RequestKey(method: "GET", url: "http://pause.test/\(number)")
            pauses.take(.wait(start..<start + 60), about: other)
        }
        #expect(!pauses.contains(key, now: start))
    }

    @Test(
        "are asked for by errors alone",
        arguments: [
            (503, "60", 60), (429, "Fri, 15 Jan 2027 08:02:00 GMT", 120), (404, "0", 0),
            (500, "Fri, 15 Jan 2027 07:00:00 GMT", 0), (503, "99999999999999999999", 3600),
            (503, "", nil), (503, "soon", nil), (503, "-1", nil), (503, nil, nil),
        ] as [(Int, String?, TimeInterval?)]
    )
    func errors(status: Int, value: String?, delay: TimeInterval?) throws {
        #expect(try advice(status, value) == delay.map { .wait(start..<start + $0) })
    }

    @Test("are ended by other responses", arguments: [(301, "60"), (200, "60"), (304, "60"), (200, nil)])
    func others(status: Int, value: String?) throws {
        #expect(try advice(status, value) == .goOn)
    }

    private func advice(_ status: Int, _ value: String?) throws -> RenewalAdvice? {
        let url = try #require(URL(string: "http://pause.test/"))
        let head = ResponseHead(url: url, statusCode: status, fields: value.map { ["retry-after": $0] } ?? [:])
        return RenewalAdvice(head, now: start)
    }
}
