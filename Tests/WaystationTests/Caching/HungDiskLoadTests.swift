import Foundation
import FoundationNetworking
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("Loads while the cache's disk hangs", .timeLimit(.minutes(10)))
struct HungDiskLoadTests {
    @Test("go to the network, and an event reports the cache as unavailable")
    func load() async throws {
        let directory = try TemporaryDirectory()
        let disk = DispatchSemaphore(value: 0)
        defer { disk.signal() }
        var environment = StoreEnvironment()
        environment.lookUpInterval = 0.01
        environment.fileSystem = FaultyFileSystem { operation, _ in
            guard operation == .createDirectory else { return }
            // Each waiting operation lets the next one through.
            disk.wait()
            disk.signal()
        }
        let network = ScriptedTransport { _ in .ok("from the network", fields: ["Cache-Control": "max-age=60"]) }
        let interceptor = try Interceptor { [environment] in
            $0.rules = [.allow("http://hung.test/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: directory.url, environment: environment)
            $0.makeTransport = { _ in network }
        }
        let events = interceptor.events
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let url = try #require(URL(string: "http://hung.test/"))
        for _ in 0..<2 { #expect(try await session.data(from: url).0 == Data("from the network".utf8)) }
        #expect(network.requests.count == 2)
        let trouble = await events.first {
            if case .store(let event) = $0.kind { event.kind == .unavailable } else { false }
        }
        #expect(trouble != nil)
    }
}
