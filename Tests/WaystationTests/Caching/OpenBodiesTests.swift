import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("The files of large bodies")
struct OpenBodiesTests {
    private let directory: TemporaryDirectory
    private let cache: ResponseCache
    private let transport: ScriptedTransport
    private let session: URLSession
    private let openings = Openings()

    private final class Openings: Sendable {
        private let count = Mutex(0)

        func add() { count.withLock { $0 += 1 } }

        func take() -> Int {
            count.withLock { count in
                defer { count = 0 }
                return count
            }
        }
    }

    /// A session whose server sends another large body for each number.
    init() throws {
        directory = try TemporaryDirectory()
        var environment = StoreEnvironment.patient
        environment.fileSystem = FaultyFileSystem { [openings] operation, path in
            if operation == .openFile, path.contains("/bodies/") { openings.add() }
        }
        cache = try ResponseCache(directory: directory.url, environment: environment)
        transport = ScriptedTransport { request in
            var fields = ["Cache-Control": "max-age=60", "Vary": "X-Number", "ETag": "\"1\""]
            let number = request.value(forHTTPHeaderField: "X-Number") ?? ""
            if number == "same as 1", request.value(forHTTPHeaderField: "If-None-Match")?.contains("\"1\"") == true {
                return .status(304, fields: fields)
            }
            fields["ETag"] = "\"\(number)\""
            return .status(200, fields: fields, body: Self.body(number))
        }
        let interceptor = try Interceptor { [cache, transport] in
            $0.rules = [.allow("http://bodies.test/**", via: .cache(.standard))]
            $0.cache = cache
            $0.makeTransport = { _ in transport }
        }
        session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    }

    private static func body(_ number: String) -> Data { Data(number.utf8) + Data(count: 100_000) }

    /// Loads the variant with this number, and returns how many files of bodies were opened.
    private func load(_ number: String, expecting body: Data) async throws -> Int {
        await cache.flush()
        _ = openings.take()
        var request = URLRequest(url: try #require(URL(string: "http://bodies.test/a")))
        request.setValue(number, forHTTPHeaderField: "X-Number")
        #expect(try await session.data(for: request).0 == body)
        return openings.take()
    }

    @Test("are opened for the variant that answers, and not for the others")
    func variants() async throws {
        for number in ["1", "2", "3"] { #expect(try await load(number, expecting: Self.body(number)) == 0) }
        #expect(try await load("2", expecting: Self.body("2")) == 1)
        #expect(transport.requests.count == 3)
    }

    @Test("are opened for a variant that a 304 selects")
    func selected() async throws {
        for number in ["1", "2"] { _ = try await load(number, expecting: Self.body(number)) }
        _ = try await load("same as 1", expecting: Self.body("1"))
        #expect(transport.requests.count == 3)
    }

    @Test("may be missing when a 304 selects their variant: the load then asks for the whole response")
    func missing() async throws {
        _ = try await load("1", expecting: Self.body("1"))
        await cache.flush()
        let bodies = directory.url.appending(path: "bodies")
        try FileManager.default.removeItem(at: bodies)
        _ = try await load("same as 1", expecting: Self.body("same as 1"))
        #expect(transport.requests.count <= 3)
    }
}
