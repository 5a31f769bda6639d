import Foundation
import FoundationNetworking
import HTTPTypes
import Testing
import Waystation
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

/// Tests what a command-line tool does: one load through a new cache, then the end of the process.
@Suite("A process that ends after its load", .timeLimit(.minutes(10)))
struct ProcessEndTests {
    /// 8, or the value of the environment variable, such as `WAYSTATION_EXITS=200`.
    private static let rounds = ProcessInfo.processInfo.environment["WAYSTATION_EXITS"].flatMap(Int.init) ?? 8

    @Test("by exit has every response on disk whose load reported it as stored")
    func exit() async throws {
        var lost = 0
        for _ in 0..<Self.rounds {
            let directory = try TemporaryDirectory()
            await #expect(processExitsWith: .exitCode(7)) { [path = directory.url.path as String] in
                try await ProcessEndTests.load(into: path, length: 1_000)
                Foundation.exit(7)
            }
            if try !isStored(in: directory, length: 1_000) { lost += 1 }
        }
        #expect(lost == 0, "processes that lost the response, of \(Self.rounds)")
    }

    @Test("by exit has a large body on disk too")
    func largeBody() async throws {
        let directory = try TemporaryDirectory()
        await #expect(processExitsWith: .exitCode(7)) { [path = directory.url.path as String] in
            try await ProcessEndTests.load(into: path, length: 3_000_000)
            Foundation.exit(7)
        }
        #expect(try isStored(in: directory, length: 3_000_000))
    }

    @Test("by exit has the last change of its cookies on disk")
    func cookies() async throws {
        for _ in 0..<Self.rounds {
            let directory = try TemporaryDirectory()
            await #expect(processExitsWith: .exitCode(7)) { [path = directory.url.path as String] in
                let store = CookieStore(file: URL(filePath: path).appending(path: "cookies.json"))
                try store.insert(
                    Cookie(name: "a", value: "1", domain: "shop.example", expires: .now + 600, creation: .now)
                )
                Foundation.exit(7)
            }
            let store = CookieStore(file: directory.url.appending(path: "cookies.json"))
            #expect(store.cookies.map(\.name) == ["a"])
        }
    }

    @Test("by exit in an event handler ends at once, and leaves an intact cache")
    func exitInHandler() async throws {
        let directory = try TemporaryDirectory()
        await #expect(processExitsWith: .exitCode(7)) { [path = directory.url.path as String] in
            let store = ResponseStore(
                directory: URL(filePath: path, directoryHint: .isDirectory),
                events: { event in
                    if event.kind == .stored { Foundation.exit(7) }
                }
            )
            _ = try? await store.begin(ProcessEndTests.response)?.commit()
            await store.flush()
            Foundation.exit(1)
        }
        #expect(try StoreInspector(directory: directory.url).verify().isIntact)
    }

    private static var response: StoredHead {
        StoredHead(
            key: RequestKey(method: "GET", url: "http://tool.test/"),
            status: 200,
            headerFields: [:],
            requestTime: Date(),
            responseTime: Date()
        )
    }

    private static func load(into path: String, length: Int) async throws {
        let network = ScriptedTransport { _ in .ok(String(repeating: "a", count: length)) }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://tool.test/**", via: .cache(.cacheFirst(for: .seconds(60))))]
            $0.cache = try ResponseCache(directory: URL(filePath: path, directoryHint: .isDirectory))
            $0.makeTransport = { _ in network }
        }
        guard let url = URL(string: "http://tool.test/") else { return }
        let (_, response) = try await URLSession(configuration: .ephemeral.intercepted(by: interceptor)).data(from: url)
        let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
        guard status?.hasSuffix("; stored") == true else { Foundation.exit(2) }
    }

    private func isStored(in directory: TemporaryDirectory, length: Int) throws -> Bool {
        let inspector = try StoreInspector(directory: directory.url)
        guard let entry = try inspector.entries().first else { return false }
        return try inspector.response(entry)?.body.contents() == Data(String(repeating: "a", count: length).utf8)
    }
}
