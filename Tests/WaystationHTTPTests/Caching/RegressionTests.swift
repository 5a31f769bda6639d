import HTTPTypes
import Testing
import WaystationHTTP

/// Mistakes of other caches, with the issue's number in that project.
@Suite("Regressions of other caches")
struct RegressionTests {
    @Test("undici 5094: an expired variant before a valid one does not cause a miss (RFC 9111 §4.1)")
    func undici5094() throws {
        let all = [
            stored("Cache-Control: max-age=1\nVary: Accept-Encoding", for: "Accept-Encoding: gzip"),
            stored("Cache-Control: max-age=60\nVary: Accept-Encoding", for: "Accept-Encoding: br"),
        ]
        let decision = ReuseDecision(for: request("Accept-Encoding: br"), among: all, now: moment(2))
        #expect(try #require(decision.selection).index == 1)
        let gzip = ReuseDecision(for: request("Accept-Encoding: gzip"), among: all, now: moment(2))
        #expect(gzip.summary == "load stale")
    }

    @Test("undici 5108: a response that begins to vary no longer answers other requests (RFC 9111 §4.1, §3.2)")
    func undici5108() throws {
        let english = request("Accept-Language: en")
        let answer = response("ETag: \"a\"\nVary: Accept-Language\nCache-Control: max-age=60", status: 304)
        let result = try outcome(answer, of: [stored("Cache-Control: max-age=1\nETag: \"a\"")], for: english)
        let updated = try #require(result.firstUpdate)
        #expect(ReuseDecision(for: english, among: [updated], now: moment(10_001)).summary == "fresh")
        let french = ReuseDecision(for: request("Accept-Language: fr"), among: [updated], now: moment(10_001))
        #expect(french.summary == "ask vary-miss")
    }

    @Test(
        "undici 5511: must-revalidate overrides max-stale and stale-if-error (RFC 9111 §5.2.2.2, RFC 5861 §4)"
    )
    func undici5511() throws {
        let head = stored("Cache-Control: max-age=1, must-revalidate, stale-if-error=600\nETag: \"a\"")
        let decision = ReuseDecision(for: request("Cache-Control: max-stale=600"), among: [head], now: moment(2))
        #expect(decision.summary == "ask stale")
        let sent = try #require(decision.revalidation)
        #expect(sent.standIn(for: .status(503), now: moment(2)) == nil)
        #expect(sent.standIn(for: .unreachable, now: moment(2)) == nil)
    }

    @Test(
        "undici 5515: a validator without a lifetime is stored, and validated each time (RFC 9111 §3, §5.2.2.4)",
        arguments: ["Cache-Control: no-cache", "Cache-Control: max-age=0", "Expires: 0", ""]
    )
    func undici5515(_ line: String) throws {
        let decision = StoringDecision(
            of: response("ETag: \"a\"\n" + line),
            to: request(),
            requestTime: moment(0),
            responseTime: moment(0)
        )
        guard case .store(let head) = decision else {
            Issue.record("\(decision)")
            return
        }
        let sent = try #require(ReuseDecision(for: request(), among: [head], now: moment(0)).revalidation)
        #expect(sent.request.headerFields[.ifNoneMatch] == "\"a\"")
    }

    @Test("hishel 239: a 200 in response to a validation is stored with its own times (RFC 9111 §4.3.3)")
    func hishel239() throws {
        let result = try outcome(
            response("Cache-Control: max-age=60"),
            of: [stored("Cache-Control: max-age=60\nETag: \"a\"")]
        )
        guard case .replaced(.store(let head), let outdated) = result else {
            Issue.record("\(result.summary)")
            return
        }
        #expect(outdated == [0])
        #expect(ReuseDecision(for: request(), among: [head], now: moment(10_059)).summary == "fresh")
    }

    @Test("hishel 397: a 304 returns and freshens the stored content, with one request (RFC 9111 §4.3.4)")
    func hishel397() throws {
        let result = try outcome(
            response("ETag: \"a\"", status: 304),
            of: [stored("Cache-Control: max-age=60\nETag: \"a\"")]
        )
        let selection = try #require(result.selection)
        #expect(selection.content == .whole)
        #expect(selection.response.status == .ok)
        let updated = try #require(result.firstUpdate)
        #expect(ReuseDecision(for: request(), among: [updated], now: moment(10_059)).summary == "fresh")
    }

    @Test(
        "okhttp 7755: a POST's response answers a later GET if it says so, else invalidates (RFC 9110 §9.3.3)"
    )
    func okhttp7755() {
        let posted = request(method: .post)
        let unmarked = response("Cache-Control: max-age=900")
        let marked = response("Cache-Control: max-age=900\nContent-Location: /a")
        let times = (moment(0), moment(1))
        #expect(Invalidation(after: posted, response: unmarked).urls == ["https://example.com/a"])
        #expect(
            StoringDecision(of: unmarked, to: posted, requestTime: times.0, responseTime: times.1) == .refuse(.method)
        )
        guard
            case .store(let head) = StoringDecision(
                of: marked,
                to: posted,
                requestTime: times.0,
                responseTime: times.1
            )
        else {
            Issue.record("not stored")
            return
        }
        #expect(ReuseDecision(for: request(), among: [head], now: moment(2)).summary == "fresh")
        #expect(ReuseDecision(for: posted, among: [head], now: moment(2)).summary == "forward method")
    }
}
