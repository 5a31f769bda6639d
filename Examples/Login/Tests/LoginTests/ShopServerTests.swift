import Foundation
import FoundationNetworking
import ShopApp
import ShopServer
import Testing
import Waystation

@testable import Login

@Suite("The shop without the app", .timeLimit(.minutes(10)))
struct ShopServerTests {
    private func status(_ path: String, of fixture: ShopFixture, cookie: String? = nil) async throws -> Int {
        let url = try #require(URL(string: path, relativeTo: fixture.server.url))
        var request = URLRequest(url: url, timeoutInterval: 600)
        request.setValue(cookie, forHTTPHeaderField: "Cookie")
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let (_, response) = try await session.data(for: request)
        return try #require(response as? HTTPURLResponse).statusCode
    }

    @Test("refuses pages to requests without a token", arguments: ["pages/orders", "pages/wishes?needAuth=true"])
    func refusal(path: String) async throws {
        let fixture = try await ShopFixture()
        defer { fixture.close() }
        #expect(try await status(path, of: fixture) == 401)
        #expect(try await status(path, of: fixture, cookie: "token=guess") == 401)
        #expect(try await status("pages/home", of: fixture) == 200)
    }

    @Test("accepts a token until its hour is over")
    func lifetime() async throws {
        let fixture = try await ShopFixture()
        defer { fixture.close() }
        let app = try fixture.app(of: Person(.ada))
        try await app.login.logIn()
        let pair = try #require(app.cookies.cookies.first?.pair)
        fixture.advance(by: Shop.tokenLifetime - 1)
        #expect(try await status("pages/orders", of: fixture, cookie: pair) == 200)
        fixture.advance(by: 1)
        #expect(try await status("pages/orders", of: fixture, cookie: pair) == 401)
    }
}
