import Foundation
import Testing
import WaystationCaching
import WaystationTransport

@testable import Waystation

@Suite("Pauses that servers ask for (Retry-After, RFC 9110 §10.2.3)")
struct RequestedPausesTests {
    // Fri, 15 Jan 2027 08:00:00 GMT.
    private let start = Date(timeIntervalSince1970: 1_800_000_000)
    private let key = RequestKey(method: "GET", url: "http://pause.test/")
    private var pauses = RequestedPauses()

    @Test("last from the answer to the time, and end when the clock is set back or the server answers again")
    mutating func length() {
        #expect(!pauses.contain(key, now: start))
        pauses.take(.wait(.seconds(60)), about: key, now: start)
        #expect(pauses.contain(key, now: start) && pauses.contain(key, now: start + 59))
        #expect(!pauses.contain(key, now: start + 60) && !pauses.contain(key, now: start - 1))
        #expect(!pauses.contain(RequestKey(method: "GET", url: "http://pause.test/b"), now: start))
        pauses.take(.wait(.seconds(5)), about: key, now: start + 1)
        #expect(pauses.contain(key, now: start + 5) && !pauses.contain(key, now: start + 6))
        pauses.take(.goOn, about: key, now: start + 2)
        #expect(!pauses.contain(key, now: start + 2))
    }

    @Test("last for an hour at most, and are kept for a limited number of keys")
    mutating func limits() {
        pauses.take(.wait(.seconds(Int64.max)), about: key, now: start)
        #expect(pauses.contain(key, now: start + 3599) && !pauses.contain(key, now: start + 3600))
        for number in 1...RequestedPauses.limit {
            #expect(pauses.contain(key, now: start))
            let other = RequestKey(method: "GET", url: "http://pause.test/\(number)")
            pauses.take(.wait(.seconds(60)), about: other, now: start)
        }
        #expect(!pauses.contain(key, now: start))
    }

    @Test(
        "are asked for by errors alone, and ended by other responses",
        arguments: [
            (503, "60", .wait(.seconds(60))), (429, "Fri, 15 Jan 2027 08:02:00 GMT", .wait(.seconds(120))),
            (404, "0", .wait(.zero)), (500, "Fri, 15 Jan 2027 07:00:00 GMT", .wait(.zero)),
            (503, "99999999999999999999", .wait(.seconds(3600))),
            (301, "60", .goOn), (200, "60", .goOn), (304, "60", .goOn),
            (503, "", nil), (503, "soon", nil), (503, "-1", nil), (503, nil, nil), (200, nil, .goOn),
        ] as [(Int, String?, RenewalAdvice?)]
    )
    func heads(status: Int, value: String?, advice: RenewalAdvice?) throws {
        let url = try #require(URL(string: "http://pause.test/"))
        let head = ResponseHead(url: url, statusCode: status, fields: value.map { ["retry-after": $0] } ?? [:])
        #expect(RenewalAdvice(head, now: start) == advice)
    }
}
