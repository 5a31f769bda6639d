import Foundation
import Testing
import Waystation
import WaystationTesting

/// Two loads of one URL: a case of what the first one stores, and whether the second one is served from it.
///
/// The origin answers with `fields` and the number of the request as body; a request with the validators of the
/// first response gets 304.
struct TwoLoads: CustomTestStringConvertible, Sendable {
    /// The outcome of the second load.
    enum Outcome: Sendable {
        /// The stored response answers, without a request to the origin.
        case hit
        /// The origin gets a request without conditions.
        case loaded
        /// The origin gets a request with these conditions, and confirms the stored response by 304.
        case validated(tag: String? = nil, since: String? = nil)
        /// The app gets 504, without a request to the origin (RFC 9111 §5.2.1.7).
        case gatewayTimeout
    }

    var rule: String
    var target = "/"
    var status = 200
    var fields: KeyValuePairs<String, String>
    /// The fields of the first request.
    var first: [String: String] = [:]
    /// The seconds between the loads.
    var seconds: TimeInterval = 0
    /// The fields of the second request.
    var second: [String: String] = [:]
    var outcome: Outcome

    /// Makes a case of the first response's fields, the second request's fields and the outcome.
    init(
        _ rule: String,
        _ fields: KeyValuePairs<String, String>,
        _ outcome: Outcome,
        after seconds: TimeInterval = 0,
        asking second: [String: String] = [:],
        first: [String: String] = [:],
        status: Int = 200,
        target: String = "/"
    ) {
        self.rule = rule
        self.fields = fields
        self.outcome = outcome
        self.seconds = seconds
        self.second = second
        self.first = first
        self.status = status
        self.target = target
    }

    var testDescription: String { "\(rule): \(status) \(fields.map { "\($0): \($1)" }) +\(Int(seconds)) s \(second)" }

    /// Makes both loads and checks the app's responses and the origin's requests.
    func check(_ strategy: CacheStrategy = .standard) async throws {
        let count = Counter()
        let (status, fields) = (status, fields)
        let fixture = try CachingFixture(strategy) { request in
            let number = count.next()
            if number > 1, Self.isCurrent(request, fields) { return .status(304, fields: fields) }
            return .status(number == 1 ? status : 200, fields: fields, body: Data("\(number)".utf8))
        }
        let original = try await fixture.load(target, first)
        #expect(original.status == status)
        fixture.clock.advance(by: seconds)
        let again = try await fixture.load(target, second)
        let requests = fixture.origin.requests
        #expect(requests.allSatisfy { $0.method == "GET" })
        switch outcome {
        case .hit:
            #expect(again.isHit, "\(again.cacheStatus)")
            #expect(again.status == status)
            #expect(again.body == original.body)
            #expect(again["Age"] != nil)
            #expect(requests.count == 1)
        case .gatewayTimeout:
            #expect(again.status == 504)
            #expect(requests.count == 1)
        case .loaded:
            #expect(again.body == "2")
            #expect(again.cacheStatus.contains("fwd="), "\(again.cacheStatus)")
            try #require(requests.count == 2)
            #expect(requests[1].value(of: "If-None-Match") == second["If-None-Match"])
            #expect(requests[1].value(of: "If-Modified-Since") == nil)
            #expect(requests[1].value(of: "Cache-Control") == second["Cache-Control"])
        case .validated(let tag, let since):
            #expect(again.status == status)
            #expect(again.body == original.body)
            #expect(again.cacheStatus.contains("fwd-status=304"), "\(again.cacheStatus)")
            try #require(requests.count == 2)
            #expect(requests[1].value(of: "If-None-Match") == tag)
            #expect(requests[1].value(of: "If-Modified-Since") == since)
            #expect(requests[1].value(of: "Cache-Control") == second["Cache-Control"])
        }
    }

    private static func isCurrent(_ request: ScriptedOrigin.Request, _ fields: KeyValuePairs<String, String>) -> Bool {
        if let asked = request.value(of: "If-None-Match") {
            return fields.contains { $0.key == "ETag" && asked.contains($0.value) }
        }
        guard let since = request.value(of: "If-Modified-Since") else { return false }
        return fields.contains { $0.key == "Last-Modified" && $0.value == since }
    }
}
