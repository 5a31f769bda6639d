import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("The time-out interval of a request's initializer")
struct RequestTimeoutTests {
    enum Kind: CaseIterable { case untouched, handedBack, transported, upload, download }

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func session(_ kind: Kind) throws -> URLSession {
        let rule: Rule =
            switch kind {
            case .untouched: .allow("http://other.test/**", via: .network)
            case .handedBack, .upload, .download: .allow("http://127.0.0.1:*/**", via: .network)
            case .transported: .allow("http://127.0.0.1:*/**", via: .cache(.networkFirst()))
            }
        let interceptor = try Interceptor {
            $0.rules = [rule]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
        }
        let configuration = URLSessionConfiguration.ephemeral
        // This interval counts if the request's own is ignored. It is longer than the test may take.
        configuration.timeoutIntervalForRequest = 600
        return URLSession(configuration: configuration.intercepted(by: interceptor))
    }

    @Test("ends a load of any kind that stays silent", .timeLimit(.minutes(5)), arguments: Kind.allCases, [1, 0.5])
    func silence(kind: Kind, interval: Double) async throws {
        // Loads that only Foundation can run count whole seconds.
        guard interval >= 1 || [.handedBack, .transported].contains(kind) else { return }
        let origin = try ScriptedOrigin { _ in .unanswered }
        var request = URLRequest(
            url: origin.url("/a"),
            cachePolicy: .useProtocolCachePolicy,
            timeoutInterval: interval
        )
        if kind == .upload { request.httpMethod = "POST" }
        let (session, sent) = (try session(kind), request)
        let error = await #expect(throws: URLError.self) {
            switch kind {
            case .upload: _ = try await session.upload(for: sent, from: Data("body".utf8))
            case .download: _ = try await session.download(for: sent)
            default: _ = try await session.data(for: sent)
            }
        }
        #expect(error?.code == .timedOut)
        // An interval below a second is rounded up, not down to zero, so the request was sent.
        #expect(origin.requestCount == 1)
    }

    @Test(
        "loads of any kind ignore it if it is longer than Foundation can count",
        arguments: Kind.allCases,
        [.infinity, .greatestFiniteMagnitude, 1e17]
    )
    func tooLong(kind: Kind, interval: Double) async throws {
        let origin = try ScriptedOrigin { .ok($0.body.isEmpty ? Data("here".utf8) : $0.body) }
        var request = URLRequest(
            url: origin.url("/a"),
            cachePolicy: .useProtocolCachePolicy,
            timeoutInterval: interval
        )
        if kind == .upload { request.httpMethod = "POST" }
        let session = try session(kind)
        let body =
            switch kind {
            case .upload: try await session.upload(for: request, from: Data("here".utf8)).0
            case .download: try Data(contentsOf: try await session.download(for: request).0)
            default: try await session.data(for: request).0
            }
        #expect(body == Data("here".utf8))
    }

    @Test("is obeyed by Foundation's loader once the task's request says that it was set")
    func flag() throws {
        let url = try #require(URL(string: "http://timeout.test/"))
        let session = URLSession(configuration: .ephemeral)
        func task(_ request: URLRequest) -> URLSessionTask { session.dataTask(with: request) }
        var given = URLRequest(url: url)
        given.timeoutInterval = 60
        #expect(RequestTimeout.current.isObeyed(for: task(given)) == true)

        let ignored = task(URLRequest(url: url, timeoutInterval: 7))
        #expect(RequestTimeout.current.isObeyed(for: ignored) == false)
        RequestTimeout.current.obey(for: ignored)
        #expect(RequestTimeout.current.isObeyed(for: ignored) == true)
        #expect(ignored.originalRequest?.timeoutInterval == 7)
        #expect(ignored.originalRequest?.url == url)

        let unset = task(URLRequest(url: url))
        RequestTimeout.current.obey(for: unset)
        #expect(RequestTimeout.current.isObeyed(for: unset) == false)

        var endless = URLRequest(url: url)
        endless.timeoutInterval = .infinity
        let counted = task(endless)
        #expect(RequestTimeout.current.isObeyed(for: counted) == true)
        RequestTimeout.current.obey(for: counted)
        #expect(RequestTimeout.current.isObeyed(for: counted) == false)
    }

    @Test("counts as given if the property was set, even to the interval of a request for which none was given")
    func givenDefault() throws {
        let url = try #require(URL(string: "http://timeout.test/"))
        var given = URLRequest(url: url)
        #expect(!given.hasTimeoutInterval)
        given.timeoutInterval = 60
        #expect(given.hasTimeoutInterval)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 10
        let interceptor = try Interceptor { $0.rules = [.allow("http://timeout.test/**", via: .network)] }
        let network = interceptor.makeNetwork(configuration)
        #expect(network.timeout(of: given) == 60)
        #expect(network.timeout(of: URLRequest(url: url)) == 10)
    }

    @Test("is left alone where the flag is not found under its name and with its type")
    func notFound() throws {
        let task = URLSessionTask()
        #expect(RequestTimeout(request: "originalRequest", flag: "noSuchFlag").isObeyed(for: task) == nil)
        #expect(RequestTimeout(request: "noSuchRequest", flag: "isTimeoutIntervalSet").isObeyed(for: task) == nil)
        #expect(RequestTimeout(request: "taskIdentifier", flag: "isTimeoutIntervalSet").isObeyed(for: task) == nil)
    }
}
