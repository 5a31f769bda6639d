import Foundation
import HTTPTypes
import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var section: String
    var response: String
    var sent: Double
    var received: Double
    var now: Double
    var age: Int

    init(_ section: String, _ response: String, sent: Double = 0, received: Double = 0, now: Double, _ age: Int) {
        (self.section, self.response, self.age) = (section, response, age)
        (self.sent, self.received, self.now) = (sent, received, now)
    }

    var testDescription: String { "§\(section) [\(response)] \(sent)–\(received), now \(now) → \(age)" }
}

@Suite("Age (RFC 9111 §4.2.3, §5.1)")
struct AgeTests {
    private static let unknown = 2_147_483_648

    private static let rows: [Row] = [
        Row("4.2.3", "Date: {0}", now: 0, 0),
        Row("4.2.3", "Date: {0}", now: 30, 30),
        Row("4.2.3", "Date: {0}", now: 30.9, 30),
        Row("4.2.3", "", now: 30, 30),
        Row("4.2.3", "Date: {-10}", now: 30, 40),
        Row("4.2.3", "Date: {10}", now: 30, 30),
        Row("4.2.3", "Date: {86400}", now: 30, 30),
        Row("4.2.3", "Date: nonsense", now: 30, 30),
        Row("4.2.3", "Date: {0}", sent: -4, now: 30, 34),
        Row("4.2.3", "Date: {-1}", sent: -4, now: 30, 34),
        Row("4.2.3", "Date: {-9}", sent: -4, now: 30, 39),
        Row("4.2.3", "Date: {0}\nAge: 20", now: 30, 50),
        Row("4.2.3", "Date: {0}\nAge: 20", sent: -4, now: 30, 54),
        Row("4.2.3", "Date: {-100}\nAge: 20", now: 30, 130),
        Row("4.2.3", "Date: {-100}\nAge: 200", now: 30, 230),
        Row("4.2.3", "Date: {0}", sent: 5, received: 0, now: 30, 30),
        Row("5.1", "Age: 20, 99", now: 0, 20),
        Row("5.1", "Age: 20\nAge: 99", now: 0, 20),
        Row("5.1", "Age: 20;a=b", now: 0, 20),
        Row("5.1", "Age: 20 ; a=1", now: 0, 20),
        Row("5.1", "Age: ;a=1", now: 7, 7),
        Row("5.1", "Age: 0", now: 0, 0),
        Row("5.1", "Age: -5", now: 7, 7),
        Row("5.1", "Age: abc", now: 7, 7),
        Row("5.1", "Age: 1.5", now: 7, 7),
        Row("5.1", "Age: ", now: 7, 7),
        Row("5.1", "Age: \"5\"", now: 7, 7),
        Row("5.1", "Age: x, 5", now: 7, 7),
        Row("5.1", "Age: 12abc", now: 7, 7),
        Row("1.2.2", "Age: 99999999999999999999", now: 7, unknown),
        Row("1.2.2", "Age: 2147483640", now: 100, unknown),
        Row("4.2.3", "Date: {0}", now: -1, 0),
        Row("4.2.3", "Date: {0}", now: -60, 0),
        Row("4", "Date: {0}", now: -61, unknown),
        Row("4", "Date: {0}", now: -86_400, unknown),
        Row("4.2.3", "Date: {0}", now: .infinity, unknown),
        Row("4.2.3", "Date: {0}", now: .nan, unknown),
        Row("4.2.3", "Date: {0}", received: .infinity, now: 0, unknown),
        Row("4.2.3", "Date: Thu, 01 Jan 1970 00:00:00 GMT", now: 0, 1_700_000_000),
    ]

    @Test("is the greater of the clock's and the caches' value, plus the time since receipt", arguments: rows)
    private func age(_ row: Row) {
        let head = StoredHead(
            key: RequestKey(method: "GET", url: "https://example.com/a"),
            status: 200,
            headerFields: fields(row.response),
            requestTime: moment(row.sent),
            responseTime: moment(row.received)
        )
        #expect(head.freshness(now: moment(row.now)).age == .seconds(row.age))
    }

    @Test("§4: the rules set how far the clock may go back")
    func tolerance() {
        var rules = CachingRules()
        rules.clockTolerance = .seconds(3600)
        #expect(stored("Date: {0}").freshness(now: moment(-3600), rules: rules).age == .zero)
    }

    @Test("§5.1: the field is whole seconds and never negative", arguments: [(0.0, "0"), (12.7, "12"), (-30, "0")])
    func field(_ now: Double, _ expected: String) throws {
        let head = stored("Cache-Control: max-age=60\nDate: {0}")
        let selection = try #require(ReuseDecision(for: request(), among: [head], now: moment(now)).selection)
        #expect(selection.ageFieldValue == expected)
    }

    @Test("§4: the cache's own Age replaces a stored one in a response that was not validated")
    func replacement() throws {
        let head = stored("Cache-Control: max-age=60\nDate: {0}\nAge: 5")
        let selection = try #require(ReuseDecision(for: request(), among: [head], now: moment(10)).selection)
        #expect(selection.response.headerFields[values: .age] == ["15"])
    }
}
