import Foundation
import ShopApp
import ShopServer
import Waystation

/// A person's walk through an app that is half native and half pages.
///
/// Each step prints what happened, and which requests the server received.
struct Walk: Sendable {
    /// A step did not have the expected result.
    struct Unexpected: Error, CustomStringConvertible { let description: String }

    /// The folder of the cache.
    let cache: URL
    var person = Person(.ada)
    var patience: TimeInterval = 30
    let say: @Sendable (String) -> Void

    /// Runs all steps.
    ///
    /// - Throws: ``Unexpected`` at the first step without the expected result, or the error of the step that failed.
    func run() async throws {
        let cache = try ResponseCache(directory: cache)
        let shop = Shop()
        let server = try await RunningShop(shop)
        say("the shop listens at \(server.url)")
        let app = try app(of: person, at: server, cache)
        defer { app.close() }

        let home = try await publicPage(app, shop)
        try await markedPages(home.links, app, shop)
        try await native(app, shop)
        try await cookieOfPage(app, shop)
        try await cookieOfApp(app, shop)
        try await renewal(app, shop)
        try await otherApp(home.links, app, shop)
        await cache.flush()
        await server.stop()
        try await offline(app, shop)
        try await logOut(app, shop, cache)
        let again = try await RunningShop(shop, port: server.port)
        try await somebodyElse(at: again, shop, cache)
        await again.stop()
        say("every step went as expected")
    }

    func app(of person: Person, at server: RunningShop, _ cache: ResponseCache) throws -> ShopApp {
        try ShopApp(
            shop: server.url,
            account: person.credentials.name,
            cache: cache,
            patience: patience,
            openElsewhere: { person.open($0) },
            form: { person.fillIn() }
        )
    }

    func tell(_ number: Int, _ what: String, _ visits: [Visit]) {
        say("\(number). \(what)\n   the server saw: \(Visit.summary(of: visits))")
    }

    func expect(_ isMet: Bool, _ what: @autoclosure () -> String) throws {
        if !isMet { throw Unexpected(description: what()) }
    }

    /// The number of sign-ins among visits.
    func signIns(_ visits: [Visit]) -> Int { visits.count { $0.target == "/api/login" } }
}
