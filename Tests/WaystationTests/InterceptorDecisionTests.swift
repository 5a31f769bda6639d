import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport

@testable import Waystation

@Suite("An interceptor's decisions and refusals")
struct InterceptorDecisionTests {
    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func reasons(_ decision: Interceptor.Decision) -> String? {
        guard case .untouched(let reasons) = decision else { return nil }
        return reasons.joined(separator: "\n")
    }

    @Test("the first rule that matches a request decides")
    func firstRule() throws {
        let interceptor = try Interceptor {
            $0.rules = [
                .block("https://a.example/ads/**"), .allow("https://a.example/**", methods: ["GET"], via: .network),
                .allow("https://a.example/**", via: .nowhere),
            ]
        }
        #expect(
            try interceptor.decision(for: url("https://a.example/ads/x"))
                == .blocked(rule: 0, pattern: "https://a.example/ads/**")
        )
        #expect(
            try interceptor.decision(for: url("HTTPS://A.example:443/x#top"))
                == .allowed(rule: 1, pattern: "https://a.example/**")
        )
        #expect(
            try interceptor.decision(for: URLRequest("POST", "https://a.example/x"))
                == .allowed(rule: 2, pattern: "https://a.example/**")
        )
    }

    @Test("the decision for a request that is left to Foundation has the reasons")
    func untouched() throws {
        let interceptor = try Interceptor { $0.rules = [.allow("https://a.example/app/**", via: .network)] }
        let path = try #require(reasons(interceptor.decision(for: url("https://a.example/other"))))
        #expect(path.contains("/app/**"))
        #expect(path.contains("/other"))
        let relative = try #require(reasons(interceptor.decision(for: url("mailto:a@b.example"))))
        #expect(relative.contains("mailto:a@b.example"))
        let tagged = ForwardingTag.tagging(URLRequest(url: try url("https://a.example/app/x")))
        #expect(reasons(interceptor.decision(for: tagged)) == "an interceptor sent the request")
        #expect(!interceptor.claims(tagged))
    }

    @Test("the decision of an interceptor without rules says that it has none")
    func noRules() async throws {
        let interceptor = try Interceptor { _ in }
        let url = try url("https://a.example/")
        #expect(reasons(interceptor.decision(for: url)) == "the interceptor has no rules")
        #expect(await interceptor.explain(url).description.contains("not taken: the interceptor has no rules"))
    }

    @Test("an interceptor that is switched off claims no request until it is switched on again")
    func switchedOff() throws {
        let interceptor = try Interceptor { $0.rules = [.allow("https://a.example/**", via: .network)] }
        let request = try URLRequest("GET", "https://a.example/x")
        #expect(interceptor.claims(request))
        interceptor.isEnabled = false
        #expect(!interceptor.claims(request))
        #expect(reasons(interceptor.decision(for: request)) == "the interceptor is switched off")
        interceptor.isEnabled = true
        #expect(interceptor.claims(request))
    }

    @Test("the error for an invalid pattern has its rule's index, file and line, and a caret under the place")
    func refusedPattern() throws {
        // Outside the expectation, because its macro expansion changes the line numbers.
        let line = #line + 3
        let rules: [Rule] = [
            .allow("https://a.example/**", via: .network),
            .allow("https://a.*.example/", via: .network),
            .block("a.example"),
        ]
        let error = #expect(throws: WaystationError.self) { try Interceptor { $0.rules = rules } }
        #expect(error?.code == .invalidRules)
        let lines = try #require(error).message.split(separator: "\n").map(String.init)
        let first = try #require(lines.firstIndex { $0.contains("rule 1 ") })
        #expect(lines[first].contains("InterceptorDecisionTests.swift:\(line)"))
        #expect(lines[first + 1].trimmingCharacters(in: .whitespaces) == "https://a.*.example/")
        let star = try #require(lines[first + 1].firstIndex(of: "*"))
        let caret = try #require(lines[first + 2].firstIndex(of: "^"))
        #expect(
            lines[first + 1].distance(from: lines[first + 1].startIndex, to: star)
                == lines[first + 2].distance(from: lines[first + 2].startIndex, to: caret)
        )
        #expect(lines.contains { $0.contains("rule 2 ") })
    }

    @Test("the error for a rule without the cache, folder or base URL that it needs has its index")
    func refusedRoute() throws {
        let missing = #expect(throws: WaystationError.self) {
            try Interceptor {
                $0.rules = [.block("https://b.example/"), .allow("https://a.example/**", via: .cache(.cacheOnly))]
            }
        }
        #expect(missing?.code == .missingCache)
        #expect(missing?.message.contains("rule 1") == true)

        let directory = try TemporaryDirectory()
        let absent = directory.url.appending(path: "absent")
        let unusable = #expect(throws: WaystationError.self) {
            try Interceptor {
                $0.rules = [.allow("https://a.example/**", via: .files(in: absent, at: "https://a.example/"))]
            }
        }
        #expect(unusable?.code == .unusableDirectory)
        #expect(unusable?.message.contains("rule 0") == true)

        let base = #expect(throws: WaystationError.self) {
            try Interceptor {
                $0.rules = [.allow("https://a.example/**", via: .files(in: directory.url, at: "no URL"))]
            }
        }
        #expect(base?.code == .invalidBaseURL)
        #expect(base?.message.contains("no URL") == true)
    }
}
