import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@Suite("Files that an earlier rule blocks")
struct BlockedFilesTests {
    private let site: TemporaryDirectory
    private let session: URLSession

    init() throws {
        let site = try TemporaryDirectory()
        for file in ["index.html", "secret/a.txt", "@admin/a.js", "open/@scope/a.js"] {
            try site.write("text", to: file)
        }
        self.site = site
        let interceptor = try Interceptor {
            $0.rules = [
                .block("https://app.test/secret/**"),
                .block("https://app.test/@admin/**"),
                .allow("https://app.test/**", via: .files(in: site.url, at: "https://app.test/", orElse: .nowhere)),
                .block("https://shop.test/x/secret/**"),
                .allow("https://shop.test/**", via: .files(in: site.url, at: "https://shop.test/x/", orElse: .nowhere)),
                .allow(
                    "https://scoped.test/@v/**",
                    via: .files(in: site.url, at: "https://scoped.test/@v/", orElse: .nowhere)
                ),
            ]
        }
        session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    }

    private func error(_ url: String) async throws -> WaystationError.Code? {
        let url = try #require(URL(string: url))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        return (error?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code
    }

    private func text(_ url: String) async throws -> String {
        String(decoding: try await session.data(from: try #require(URL(string: url))).0, as: UTF8.self)
    }

    @Test(
        "are not served at URLs with another slash after the base",
        arguments: [
            "https://app.test//secret/a.txt", "https://app.test///secret/a.txt", "https://app.test//",
            "https://app.test//index.html", "https://shop.test/x//secret/a.txt",
        ]
    )
    func slashes(url: String) async throws {
        // The second request could be answered from memory.
        for _ in 1...2 { #expect(try await error(url) == .notFound) }
    }

    @Test("leave URLs with another slash after the base to the rule's next source")
    func nextSource() async throws {
        let (site, network) = (site, ScriptedTransport { _ in .ok("network") })
        let interceptor = try Interceptor {
            $0.rules = [
                .allow("https://app.test/**", via: .files(in: site.url, at: "https://app.test/", orElse: .network))
            ]
            $0.makeTransport = { _ in network }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let url = try #require(URL(string: "https://app.test//index.html"))
        #expect(String(decoding: try await session.data(from: url).0, as: UTF8.self) == "network")
    }

    @Test(
        "are blocked in every spelling of their URL",
        arguments: [
            "https://app.test/secret/a.txt", "https://app.test/%73ecret/a.txt", "https://app.test/@admin/a.js",
            "https://app.test/%40admin/a.js",
        ]
    )
    func spellings(url: String) async throws {
        #expect(try await error(url) == .blocked)
    }

    @Test(
        "do not concern the other files, which are served in every spelling of their URL",
        arguments: [
            "https://app.test/", "https://app.test/index.html", "https://shop.test/x/open/@scope/a.js",
            "https://shop.test/x/open/%40scope/a.js", "https://scoped.test/@v/index.html", "https://scoped.test/%40v/",
        ]
    )
    func others(url: String) async throws {
        for _ in 1...2 { #expect(try await text(url) == "text") }
    }
}
