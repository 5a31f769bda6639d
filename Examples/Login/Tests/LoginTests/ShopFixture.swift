import Foundation
import ShopApp
import ShopServer
import Synchronization
import Waystation

@testable import Login

/// A shop on loopback, a cache that its apps share, and a clock that stands still.
final class ShopFixture: Sendable {
    static let orders = "pages/orders?needAuth=true"

    let shop: Shop
    let server: RunningShop
    let cache: ResponseCache
    private let folder: URL
    private let time: TestTime
    private let apps = Mutex<[ShopApp]>([])

    init() async throws {
        let time = TestTime()
        self.time = time
        folder = FileManager.default.temporaryDirectory.appending(path: "login-tests-\(UUID().uuidString)")
        cache = try ResponseCache(directory: folder, now: { time.now })
        shop = Shop { time.now }
        server = try await RunningShop(shop)
    }

    /// Closes the apps and removes the folder; a test calls this last, when nothing is needed any more.
    func close() {
        for app in apps.withLock({ $0 }) { app.close() }
        try? FileManager.default.removeItem(at: folder)
    }

    func app(of person: Person) throws -> ShopApp {
        let time = time
        let app = try ShopApp(
            shop: server.url,
            account: person.credentials.name,
            cache: cache,
            // Test machines may be very busy.
            patience: 600,
            now: { time.now },
            openElsewhere: { person.open($0) },
            form: { person.fillIn() }
        )
        apps.withLock { $0.append(app) }
        return app
    }

    func advance(by seconds: TimeInterval) { time.advance(by: seconds) }

    /// Stops the server, so that every later request fails.
    func goOffline() async {
        await cache.flush()
        await server.stop()
    }

    /// The tokens that requests of a path carried, in order.
    func tokens(in visits: [Visit], at path: String) -> [String?] {
        visits.filter { $0.target.hasPrefix(path) }.map { $0.cookies["token"] }
    }
}

final class TestTime: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

    var now: Date { date.withLock { $0 } }

    func advance(by seconds: TimeInterval) { date.withLock { $0 += seconds } }
}

extension [Visit] {
    /// The number of sign-ins among the visits.
    var signIns: Int { count { $0.target == "/api/login" } }
}
