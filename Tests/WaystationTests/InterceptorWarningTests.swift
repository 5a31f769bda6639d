import Foundation
import FoundationNetworking
import Logging
import Testing
import Waystation
import WaystationTestSupport

@Suite("An interceptor's warnings")
struct InterceptorWarningTests {
    private let messages = MessageLog.Messages()

    private func interceptor(_ rules: [Rule]) throws -> Interceptor {
        let handler = MessageLog(messages: messages)
        return try Interceptor {
            $0.rules = rules
            $0.logger = Logger(label: "test") { _ in handler }
        }
    }

    @Test("are logged when the interceptor is made, are in `warnings`, and name the rule's file and line")
    func logged() throws {
        let line = #line + 3
        let interceptor = try interceptor([
            .allow("https://shop.example/**", via: .network),
            .block("https://shop.example/ads/**"),
            .allow("https://api.example.com", via: .network),
            .allow("https://img.example/[a-f*.png", via: .network),
        ])
        #expect(interceptor.warnings.map(\.kind) == [.unreachable, .narrowPath, .unclosedBracket])
        #expect(interceptor.warnings.map(\.rule) == [1, 2, 3])
        #expect(interceptor.warnings.first?.description.contains("InterceptorWarningTests.swift:\(line)") == true)
        #expect(messages.all == interceptor.warnings.map { "warning: \($0)" })
        // A warning does not change what the rule does.
        let url = try #require(URL(string: "https://api.example.com/"))
        #expect(interceptor.decision(for: url) == .allowed(rule: 2, pattern: "https://api.example.com"))
    }

    @Test("are empty for rules without a mistake")
    func none() throws {
        let folder = try TemporaryDirectory()
        let interceptor = try interceptor([
            .block("https://shop.example/ads/**"),
            .allow("https://shop.example/app/*.png", via: .files(in: folder.url, at: "https://shop.example/app/")),
            .allow("https://shop.example/**", via: .files(in: folder.url, at: "https://shop.example/app")),
        ])
        #expect(interceptor.warnings.isEmpty)
        #expect(messages.all.isEmpty)
    }

    @Test("report each files route whose base URL the rule's pattern does not match, at any depth")
    func bases() throws {
        let folder = try TemporaryDirectory()
        let interceptor = try interceptor([
            .allow("https://shop.example/app/**", via: .files(in: folder.url, at: "https://shop.example/other/")),
            .allow(
                "https://help.example/**",
                via: .files(
                    in: folder.url,
                    at: "https://help.example/",
                    orElse: .files(in: folder.url, at: "http://help.example/old")
                )
            ),
            .allow("https://api.example/v1", via: .files(in: folder.url, at: "https://api.example/v1/x/")),
        ])
        #expect(interceptor.warnings.map(\.kind) == Array(repeating: .baseOutsidePattern, count: 3))
        #expect(interceptor.warnings.map(\.rule) == [0, 1, 2])
        #expect(interceptor.warnings[0].message.contains("https://shop.example/other/"))
        #expect(interceptor.warnings[1].message.contains("write `http://help.example/old/**`"))
    }

    @Test("make at most twenty log lines and a count of the rest, whatever whitelist a server sends")
    func many() throws {
        let (rules, _) = Rule.whitelist(Array(repeating: "https://shop.example/", count: 1_000), via: .network)
        let interceptor = try interceptor(rules)
        #expect(interceptor.warnings.count == 999)
        #expect(messages.all.count == 21)
        #expect(messages.all.last?.contains("979 more") == true)
    }

    @Test("for a whitelist's rules, and the reasons of a decision, name the line of the call")
    func whitelist() throws {
        let line = #line + 1
        let (rules, rejected) = Rule.whitelist(["https://shop.example/app/", "https://api.example"], via: .network)
        #expect(rejected.isEmpty)
        let interceptor = try interceptor(rules)
        let place = "InterceptorWarningTests.swift:\(line)"
        #expect(interceptor.warnings.first?.location?.description.hasSuffix(place) == true)
        let url = try #require(URL(string: "https://shop.example/other"))
        guard case .untouched(let reasons) = interceptor.decision(for: url) else {
            Issue.record("a rule matches \(url)")
            return
        }
        #expect(reasons.count == 2)
        #expect(reasons.allSatisfy { $0.contains(place) })
    }
}
