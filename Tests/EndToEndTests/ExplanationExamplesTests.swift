import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationTesting

/// The explanations in the documentation, compiled and run.
@Suite("The documentation's explanations")
struct ExplanationExamplesTests {
    @Test("the explanation of a stored response has the text in the article")
    func stored() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waystation-explain-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        let stubs = try Stubs {
            Stub(
                .get("https://img.example/logo.png"),
                .ok("logo", fields: ["Cache-Control": "max-age=3600", "ETag": "\"v7\""])
            )
        }
        let interceptor = try Interceptor {
            $0.rules = [
                .block("https://ads.example/**", fileID: "Shop/Rules.swift", line: 12),
                .allow(
                    "https://img.example/**",
                    via: .cache(.cacheFirst(for: .days(7))),
                    fileID: "Shop/Rules.swift",
                    line: 13
                ),
            ]
            $0.cache = try ResponseCache(directory: folder, now: { time.withLock { $0 } })
            $0.now = { time.withLock { $0 } }
            $0.makeTransport = { _ in stubs }
        }
        let url = try #require(URL(string: "https://img.example/logo.png"))
        _ = try await URLSession(configuration: .ephemeral.intercepted(by: interceptor)).data(from: url)
        time.withLock { $0 += 7_200 }
        // snippet: explain-stored
        print(await interceptor.explain(url))
        // end snippet
        let explanation = await interceptor.explain(url)
        try Documents.article("Troubleshooting").expectToShow("\(explanation)")
        #expect(explanation.source == "cache")
        #expect(explanation.rule == 1)
        #expect(stubs.calls.count == 1, "explaining sends nothing")
        time.withLock { $0 += 604_800 - 7_200 }
        #expect(await interceptor.explain(url).source == "network", "the limit is reached")
        #expect(stubs.calls.count == 1, "explaining sends nothing")
    }

    @Test("a request that no rule takes is explained by the reasons")
    func untaken() async throws {
        let interceptor = try Interceptor { $0.rules = [.allow("https://shop.example/app/**", via: .network)] }
        let url = try #require(URL(string: "https://shop.example/account"))
        let explanation = await interceptor.explain(url)
        #expect(explanation.decision == "untouched")
        #expect(explanation.source == "foundation")
        #expect(explanation.cache == nil)
        #expect(explanation.reasons.contains { $0.hasSuffix("path is /account, not /app/**") })
        #expect(explanation.description.contains("not taken: rule 0 `https://shop.example/app/**`"))
    }

    @Test("a blocked request is explained by its rule and its error")
    func blocked() async throws {
        let interceptor = try Interceptor { $0.rules = [.block("https://ads.example/**")] }
        let url = try #require(URL(string: "https://ads.example/a"))
        let explanation = await interceptor.explain(url)
        #expect(explanation.decision == "blocked")
        #expect(explanation.rule == 0)
        #expect(explanation.ruleText == "block https://ads.example/**")
        #expect(explanation.answer == "It fails: a rule blocks https://ads.example/a")
    }
}
