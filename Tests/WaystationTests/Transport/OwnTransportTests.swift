import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationPacks
import WaystationTestSupport
import WaystationTesting

@Suite("A transport of the app's own")
struct OwnTransportTests {
    private let directory: TemporaryDirectory
    /// The real network, which must get no request.
    private let origin: ScriptedOrigin

    init() throws {
        directory = try TemporaryDirectory()
        origin = try ScriptedOrigin { _ in .ok("from the network") }
    }

    private func session(
        _ network: ScriptedTransport,
        _ route: Route = .network,
        _ configure: (inout Interceptor.Configuration) -> Void = { _ in }
    ) throws -> URLSession {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: route)]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
            $0.makeTransport = { _ in network }
            configure(&$0)
        }
        return URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    }

    @Test(
        "gets every load of a data task that the rules allow",
        arguments: [
            Route.network, .cache(.networkOnly), .cache(.standard), .pack,
            .files(in: .temporaryDirectory, at: "http://127.0.0.1/no/"),
        ]
    )
    func forwarded(route: Route) async throws {
        let network = ScriptedTransport { _ in .ok("scripted") }
        let session = try session(network, route) {
            $0.packs = try? PackLibrary(directory: directory.url.appending(path: "packs"))
        }
        for method in ["GET", "HEAD", "OPTIONS", "POST"] {
            var request = URLRequest(url: origin.url("/a"))
            request.httpMethod = method
            let (data, _) = try await session.data(for: request)
            #expect(data == Data("scripted".utf8) || method == "HEAD")
        }
        var range = URLRequest(url: origin.url("/a"))
        range.setValue("bytes=0-1", forHTTPHeaderField: "Range")
        _ = try await session.data(for: range)
        #expect(network.requests.count == 5)
        #expect(origin.requestCount == 0)
    }

    @Test("gets a body stream that is not spooled, too")
    func stream() async throws {
        let network = ScriptedTransport { _ in .ok("scripted") }
        let session = try session(network) { $0.bodySpool = nil }
        var request = URLRequest(url: origin.url("/a"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("body".utf8))
        #expect(try await session.data(for: request).0 == Data("scripted".utf8))
        #expect(network.requests.first?.httpBodyStream != nil)
        #expect(origin.requestCount == 0)
    }
}
