import HTTPTypes
import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var section: String
    var response: String
    var request: String
    var failure: Revalidation.Failure
    var now: Double
    var standsIn: Bool
    var use: CachingRules.DisconnectedUse

    init(
        _ section: String,
        _ response: String,
        _ request: String = "",
        _ failure: Revalidation.Failure = .unreachable,
        now: Double = 100,
        standsIn: Bool,
        use: CachingRules.DisconnectedUse = .always
    ) {
        (self.section, self.response, self.request, self.failure) = (section, response, request, failure)
        (self.now, self.standsIn, self.use) = (now, standsIn, use)
    }

    var testDescription: String {
        "§\(section) [\(response)] [\(request)] \(failure) at \(Int(now)) \(use) → \(standsIn)"
    }
}

@Suite("Stored responses that stand in when the network fails (RFC 9111 §4.2.4, RFC 5861 §4)")
struct StandInTests {
    private static let sixty = "Cache-Control: max-age=60"
    private static let error = "Cache-Control: max-age=60, stale-if-error=30"

    private static let rows: [Row] = [
        Row("4.2.4", sixty, standsIn: true),
        Row("4.2.4", sixty, now: 1e8, standsIn: true),
        Row("4.2.4", "", standsIn: true),
        Row("4.2.4", sixty, standsIn: false, use: .never),
        Row("4.2.4", sixty, now: 90, standsIn: true, use: .upTo(.seconds(30))),
        Row("4.2.4", sixty, now: 91, standsIn: false, use: .upTo(.seconds(30))),
        Row("4.2.4", sixty, "", .status(503), standsIn: false),
        Row("5.2.2.2", "Cache-Control: max-age=60, must-revalidate", standsIn: false),
        Row("5.2.2.2", "Cache-Control: max-age=60, must-revalidate", "Cache-Control: max-stale", standsIn: false),
        Row("5.2.2.2", "Cache-Control: max-age=60, must-revalidate, stale-if-error=600", standsIn: false),
        Row(
            "5.2.2.2",
            "Cache-Control: max-age=60, must-revalidate, stale-if-error=600",
            "",
            .status(503),
            standsIn: false
        ),
        Row(
            "5.2.2.2",
            "Cache-Control: max-age=60, must-revalidate",
            "Cache-Control: stale-if-error=600",
            .status(503),
            standsIn: false
        ),
        Row("5.2.2.4", "Cache-Control: max-age=60, no-cache", standsIn: false),
        Row("5.2.2.4", "Cache-Control: max-age=60, no-cache", now: 1, standsIn: false),
        Row("5.2.2.4", "Cache-Control: max-age=60, no-cache, stale-if-error=600", "", .status(503), standsIn: false),
        Row("5.2.2.4", "Cache-Control: max-age=60, no-cache=\"Set-Cookie\"", standsIn: true),
        Row("5.2.2.8", "Cache-Control: max-age=60, proxy-revalidate", standsIn: true),
        Row("5.2.2.10", "Cache-Control: max-age=60, s-maxage=1", standsIn: true),
        Row("5.2.1.4", sixty, "Cache-Control: no-cache", now: 1, standsIn: false),
        Row("5.2.1.4", sixty, "Pragma: no-cache", now: 1, standsIn: false),
        Row("5.2.1.1", sixty, "Cache-Control: max-age=0", now: 1, standsIn: false),
        Row("5.2.1.1", sixty, "Cache-Control: max-age=600", standsIn: false),
        Row("5.2.1.3", sixty, "Cache-Control: min-fresh=60", now: 1, standsIn: false),
        Row("5.2.1.2", sixty, "Cache-Control: no-cache, max-stale", standsIn: true),
        Row("5.2.1.2", sixty, "Cache-Control: max-age=0, max-stale=40", standsIn: true, use: .never),
        Row("5.2.1.2", sixty, "Cache-Control: max-age=0, max-stale=39", standsIn: false),
        Row("RFC 5861 §4", error, "", .status(500), now: 90, standsIn: true),
        Row("RFC 5861 §4", error, "", .status(502), now: 90, standsIn: true),
        Row("RFC 5861 §4", error, "", .status(503), now: 90, standsIn: true),
        Row("RFC 5861 §4", error, "", .status(504), now: 90, standsIn: true),
        Row("RFC 5861 §4", error, "", .status(503), now: 91, standsIn: false),
        Row("RFC 5861 §4", error, "", .status(501), now: 61, standsIn: false),
        Row("RFC 5861 §4", error, "", .status(404), now: 61, standsIn: false),
        Row("RFC 5861 §4", error, "", .unreachable, now: 90, standsIn: true, use: .never),
        Row("RFC 5861 §4", error, "", .unreachable, now: 91, standsIn: false, use: .never),
        Row("RFC 5861 §4", sixty, "Cache-Control: stale-if-error=40", .status(503), standsIn: true),
        Row("RFC 5861 §4", sixty, "Cache-Control: stale-if-error=39", .status(503), standsIn: false),
        Row("RFC 5861 §4", error, "Cache-Control: stale-if-error=40", .status(503), standsIn: true),
        Row("RFC 5861 §4", error, "Cache-Control: max-age=0", .status(503), now: 70, standsIn: false),
        Row("RFC 5861 §4", error, "Cache-Control: max-age=0, stale-if-error=40", .status(503), now: 70, standsIn: true),
        Row("RFC 5861 §4", "Cache-Control: max-age=60, stale-if-error=x", "", .status(503), now: 61, standsIn: false),
    ]

    @Test("stand in where response, request and rules allow it", arguments: rows)
    private func standingIn(_ row: Row) throws {
        var rules = CachingRules()
        rules.staleWhenDisconnected = row.use
        let head = stored(row.response)
        let decision = ReuseDecision(for: request(row.request), among: [head], now: moment(row.now), rules: rules)
        guard let sent = decision.revalidation else {
            // The response was served at once, because its own directives allow it.
            #expect(row.standsIn && decision.selection != nil)
            return
        }
        #expect((sent.standIn(for: row.failure, now: moment(row.now)) != nil) == row.standsIn)
    }

    @Test("§4.4: an invalidated response never stands in")
    func invalidated() throws {
        var head = stored("Cache-Control: max-age=60, stale-if-error=600")
        head.needsValidation = true
        let sent = try revalidation(of: [head], now: 1)
        #expect(sent.standIn(for: .unreachable, now: moment(1)) == nil)
        #expect(sent.standIn(for: .status(503), now: moment(1)) == nil)
    }

    @Test("§4.1: a variant that does not match never stands in")
    func otherVariant() throws {
        let other = stored("ETag: \"a\"\nVary: Accept", for: "Accept: a/b")
        let sent = try revalidation(of: [other], for: request("Accept: c/d"))
        #expect(sent.standIn(for: .unreachable, now: moment(10_000)) == nil)
    }

    @Test("§4: a response that stands in has an Age")
    func age() throws {
        let selection = try #require(
            revalidation(of: [stored("Date: {0}")], now: 70).standIn(for: .unreachable, now: moment(75))
        )
        #expect(selection.response.headerFields[.age] == "75")
        #expect(!selection.isValidated)
    }
}
