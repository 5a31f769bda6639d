import Foundation
import FoundationNetworking
import HTTPTypes
import Testing
import WaystationHTTP

@testable import Waystation

@Suite("The explanation of a cache's decision")
struct CacheExplanationTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let address = "https://shop.example/app/"

    /// A response that arrived some seconds ago; its `Date` is the time of its arrival, unless the fields have one.
    private func stored(
        _ fields: [String: String],
        arrived ago: TimeInterval,
        needsValidation: Bool = false
    ) -> StoredHead {
        let time = Self.now - ago
        return StoredHead(
            key: RequestKey(method: "GET", url: Self.address, partition: ""),
            status: 200,
            headerFields: HTTPFields(fields),
            requestTime: time,
            responseTime: time,
            needsValidation: needsValidation
        )
    }

    private func explain(
        _ stored: [StoredHead],
        by strategy: CacheStrategy = .standard,
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
        fields: [String: String] = [:]
    ) throws -> Interceptor.CacheExplanation {
        var request = URLRequest(url: try #require(URL(string: Self.address)))
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let presented = try #require(CacheRequest(request, canonical: Self.address))
        return Interceptor.CacheExplanation(strategy, policy: policy, for: presented, among: stored, now: Self.now)
    }

    @Test("names the age on arrival, the time since then, and the rest of the lifetime by max-age")
    func fresh() throws {
        let head = stored(["Cache-Control": "max-age=7200", "Age": "600"], arrived: 3_600)
        let found = try explain([head])
        #expect(
            found.sentences == [
                "The stored response has the status 200.",
                "The response's age is 1 h 10 min: 10 min when it arrived, by its Age and Date fields, "
                    + "and 1 h since then.",
                "The response's lifetime is 2 h, by max-age of its Cache-Control field.",
                "By its fields the response is fresh for 50 min more.",
                "The cache answers with the status 200, without the network.",
            ]
        )
        let response = try #require(found.response)
        #expect(response.age == 4_200)
        #expect(response.secondsSinceArrival == 3_600)
        #expect(response.lifetime == 7_200)
        #expect(response.lifetimeSource == "max-age")
        #expect(response.isFresh)
        #expect(found.outcome == "served")
    }

    @Test("names how long a response has been stale, and how the origin is asked")
    func stale() throws {
        let head = stored(["Cache-Control": "max-age=60", "ETag": "\"7\""], arrived: 3_661)
        #expect(
            try explain([head]).sentences == [
                "The stored response has the status 200.",
                "The response's age is 1 h 1 min 1 s, the time since it arrived.",
                "The response's lifetime is 1 min, by max-age of its Cache-Control field.",
                "By its fields the response has been stale for 1 h 1 s.",
                "The stored response is stale: the origin is asked with If-None-Match: \"7\".",
                "If the origin cannot be reached, the stored response answers.",
            ]
        )
    }

    @Test("names the field from which the lifetime is known")
    func lifetimes() throws {
        let date = HTTPDateText.text(of: Self.now - 100)
        let cases: [([String: String], String, Int)] = [
            (["Date": date, "Expires": HTTPDateText.text(of: Self.now - 100 + 7_384)], "Expires", 7_384),
            (["Date": date, "Last-Modified": HTTPDateText.text(of: Self.now - 100 - 86_400)], "estimate", 8_640),
            (["Date": date], "none", 0),
        ]
        for (fields, source, seconds) in cases {
            let response = try #require(try explain([stored(fields, arrived: 100)]).response)
            #expect(response.lifetimeSource == source)
            #expect(response.lifetime == seconds)
            #expect(response.age == 100)
        }
        let expires = try explain([stored(cases[0].0, arrived: 100)]).sentences
        #expect(expires[2] == "The response's lifetime is 2 h 3 min 4 s, the time from its Date to its Expires field.")
        #expect(expires[3] == "By its fields the response is fresh for 2 h 1 min 24 s more.")
        let estimate = try explain([stored(cases[1].0, arrived: 100)]).sentences[2]
        #expect(
            estimate
                == "The response's lifetime is 2 h 24 min, an estimate: "
                + "10 % of the time from its Last-Modified to its Date "
                + "field, and 7 d at most."
        )
    }

    @Test("names the rest of a strategy's own limit, which its fields do not change")
    func limits() throws {
        let head = stored(["Cache-Control": "max-age=60"], arrived: 7_200)
        let within = try explain([head], by: .cacheFirst(for: .days(7)))
        #expect(within.outcome == "served")
        #expect(
            within.sentences.contains(
                "The strategy serves the response until it arrived 7 d ago, whatever its fields say: for 6 d 22 h more."
            )
        )
        let beyond = try explain([head], by: .cacheFirst(for: .hours(1)))
        #expect(beyond.outcome == "fetched")
        #expect(
            beyond.sentences.suffix(3) == [
                "The strategy serves the response until it arrived 1 h ago, whatever its fields say: that was 1 h ago.",
                "The stored response is stale: the origin is asked for the whole response.",
                "If the origin cannot be reached, the load fails.",
            ]
        )
    }

    @Test("says that a clock went back, since the age is unknown then")
    func clock() throws {
        let found = try explain([stored(["Cache-Control": "max-age=60"], arrived: -3_600)])
        #expect(found.response?.age == nil)
        #expect(found.response?.secondsSinceArrival == -3_600)
        #expect(found.sentences[1] == "The response's age is unknown: by this machine's clock it arrives only in 1 h.")
        let archived = try explain(
            [stored(["Cache-Control": "max-age=60"], arrived: -3_600)],
            by: .cacheFirst(for: .days(7))
        )
        #expect(archived.outcome == "fetched")
        #expect(
            archived.sentences.contains(
                "The strategy serves the response until it arrived 7 d ago, whatever its fields say: "
                    + "it does not serve it now, because by this machine's clock the response arrives only in 1 h."
            )
        )
    }

    @Test("names what overrides the lifetime")
    func overrides() throws {
        let noCache = try explain([stored(["Cache-Control": "max-age=60, no-cache"], arrived: 1)])
        let demand = "The response's directive no-cache demands that the origin confirms the response each time."
        #expect(noCache.sentences.contains(demand))
        #expect(noCache.outcome == "fetched")
        let invalid = try explain([stored(["Cache-Control": "max-age=60"], arrived: 1, needsValidation: true)])
        #expect(invalid.sentences.contains { $0.hasPrefix("An unsafe request, such as a POST, has invalidated the ") })
        let policy = try explain([stored([:], arrived: 1)], policy: .returnCacheDataDontLoad)
        #expect(policy.outcome == "served")
        #expect(policy.sentences.contains { $0.hasPrefix("The request's cachePolicy accepts a stored response") })
    }

    @Test("says whether nothing is stored, or nothing that fits")
    func misses() throws {
        let nothing = try explain([])
        #expect(nothing.response == nil)
        #expect(
            nothing.sentences == [
                "No response is stored for the URL.",
                "Nothing is stored for the URL: the origin is asked for the whole response.",
                "If the origin cannot be reached, the load fails.",
            ]
        )
        #expect(try explain([], by: .cacheOnly).outcome == "failed")
        #expect(try explain([], fields: ["Cache-Control": "only-if-cached"]).outcome == "gatewayTimeout")
    }

    @Test("names the bytes that are stored, and those that are asked for")
    func parts() throws {
        func part(_ range: String, length: Int) -> StoredHead {
            StoredHead(
                key: RequestKey(method: "GET", url: Self.address, partition: ""),
                status: 206,
                headerFields: HTTPFields([
                    "Content-Range": "bytes \(range)/5000", "ETag": "\"1\"", "Cache-Control": "max-age=60",
                ]),
                vary: VaryKey([VaryKey.Nominee(name: .range, value: "bytes=\(range)")]),
                requestTime: Self.now,
                responseTime: Self.now,
                contentLength: length
            )
        }
        let stored = [part("0-99", length: 100), part("200-299", length: 100)]
        let whole = try explain(stored)
        #expect(whole.stored == 2)
        #expect(
            whole.sentences.first
                == "2 responses are stored for the URL: of the 5000 bytes of the whole, the bytes 0-99 and 200-299 are stored."
        )
        #expect(whole.sentences.contains { $0.hasSuffix("for the bytes 100-199 and 300-4999 alone.") })
        let within = try explain(stored, fields: ["Range": "bytes=0-99"])
        #expect(within.outcome == "served")
    }

    @Test("of a response that is renewed in the background says so")
    func renewed() throws {
        let head = stored(["ETag": "\"1\""], arrived: 10)
        let found = try explain([head], by: .staleWhileRevalidate(upTo: .hours(1)))
        #expect(found.outcome == "servedAndRenewed")
        #expect(
            found.sentences.last
                == "The cache answers with the status 200, without the network, and asks the origin in the background with "
                + "If-None-Match: \"1\"."
        )
    }

    @Test("is JSON with whole numbers of seconds")
    func json() throws {
        let found = try explain([stored(["Cache-Control": "max-age=60"], arrived: 10)])
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(found)) as? [String: Any]
        let response = object?["response"] as? [String: Any]
        #expect(response?["age"] as? Int == 10)
        #expect(response?["lifetime"] as? Int == 60)
        #expect(object?["stored"] as? Int == 1)
    }
}

private enum HTTPDateText {
    static func text(of date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}
