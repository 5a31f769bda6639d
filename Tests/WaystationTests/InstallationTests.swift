import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@Suite("Interceptors in configurations")
struct InstallationTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// An interceptor whose network answers every request with this name.
    private func interceptor(_ name: String, _ patterns: String...) throws -> (Interceptor, ScriptedTransport) {
        let network = ScriptedTransport { _ in .ok(name) }
        let interceptor = try Interceptor {
            $0.rules = patterns.map { .allow($0, via: .cache(.networkFirst())) }
            $0.cache = try ResponseCache(directory: directory.url.appending(path: name), environment: .patient)
            $0.makeTransport = { _ in network }
        }
        return (interceptor, network)
    }

    private func text(_ url: String, _ configuration: URLSessionConfiguration) async throws -> String {
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        return String(decoding: try await session.data(from: try #require(URL(string: url))).0, as: UTF8.self)
    }

    @Test("intercepted(by:) does not change the original configuration")
    func original() throws {
        let (interceptor, _) = try interceptor("one", "https://a.example/**")
        let original = URLSessionConfiguration.ephemeral
        let cache = URLCache(memoryCapacity: 1, diskCapacity: 0, diskPath: directory.url.path)
        original.urlCache = cache
        original.timeoutIntervalForRequest = 7
        original.httpAdditionalHeaders = ["X-App": "1"]
        let classes = try #require(original.protocolClasses).map { ObjectIdentifier($0) }

        let copy = original.intercepted(by: interceptor)
        copy.timeoutIntervalForRequest = 9
        #expect(original.urlCache === cache)
        #expect(original.protocolClasses?.map { ObjectIdentifier($0) } == classes)
        #expect(original.timeoutIntervalForRequest == 7)

        #expect(copy !== original)
        #expect(copy.urlCache !== cache)
        #expect(copy.protocolClasses?.dropFirst().map { ObjectIdentifier($0) } == classes)
        #expect(copy.httpAdditionalHeaders?["X-App"] as? String == "1")
    }

    @Test("each of two interceptors gets only the loads of its own sessions")
    func sideBySide() async throws {
        let (one, first) = try interceptor("one", "https://a.example/**")
        let (two, second) = try interceptor("two", "https://a.example/**")
        let configurations = [one, two].map { URLSessionConfiguration.ephemeral.intercepted(by: $0) }
        #expect(try await text("https://a.example/x", configurations[0]) == "one")
        #expect(try await text("https://a.example/y", configurations[1]) == "two")
        two.isEnabled = false
        #expect(try await text("https://a.example/z", configurations[0]) == "one")
        #expect(first.requests.compactMap { $0.url?.path } == ["/x", "/z"])
        #expect(second.requests.compactMap { $0.url?.path } == ["/y"])
    }

    @Test("one interceptor in two configurations has a network for each")
    func twoConfigurations() async throws {
        let origin = try ScriptedOrigin { .ok($0.value(of: "X-App") ?? "-") }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.networkFirst()))]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
        }
        for name in ["one", "two"] {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["X-App": name]
            let url = origin.url("/\(name)").absoluteString
            #expect(try await text(url, configuration.intercepted(by: interceptor)) == name)
        }
    }

    @Test("of two stacked interceptors the last one gets a request first, and leaves other requests to the first one")
    func stacked() async throws {
        let (lower, lowerNetwork) = try interceptor("lower", "https://a.example/lower/**", "https://a.example/both/**")
        let (upper, upperNetwork) = try interceptor("upper", "https://a.example/upper/**", "https://a.example/both/**")
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: lower).intercepted(by: upper)
        #expect(try await text("https://a.example/upper/x", configuration) == "upper")
        #expect(try await text("https://a.example/lower/x", configuration) == "lower")
        #expect(try await text("https://a.example/both/x", configuration) == "upper")
        upper.isEnabled = false
        #expect(try await text("https://a.example/both/y", configuration) == "lower")
        #expect(lowerNetwork.requests.compactMap { $0.url?.path } == ["/lower/x", "/both/y"])
        #expect(upperNetwork.requests.compactMap { $0.url?.path } == ["/upper/x", "/both/x"])
    }

    @Test("a session keeps its interceptor alive")
    func lifetime() async throws {
        let configuration = try URLSessionConfiguration.ephemeral.intercepted(
            by: interceptor("one", "https://a.example/**").0
        )
        #expect(try await text("https://a.example/x", configuration) == "one")
    }

    @Test("registering for the shared session is refused once a session exists, and changes nothing")
    func registeredTooLate() throws {
        // Makes sure that a session exists, whichever tests ran before.
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let classes = URLSession.shared.configuration.protocolClasses?.map { ObjectIdentifier($0) }
        let (interceptor, _) = try interceptor("one", "https://a.example/**")
        for _ in 1...2 {
            let error = #expect(throws: WaystationError.self) {
                try Interceptor.registerForSharedSession(interceptor)
            }
            #expect(error?.code == .registeredTooLate)
            #expect(error?.message.contains("intercepted(by: interceptor)") == true)
            #expect(error?.message.contains("http_proxy") == true)
        }
        #expect(URLSession.shared.configuration.protocolClasses?.map { ObjectIdentifier($0) } == classes)
    }

    @Test("a second registration for the shared session throws, and the first one stays")
    func registeredTwice() async {
        // A separate process, in which no session exists.
        await #expect(processExitsWith: .success) {
            let first = try Interceptor { $0.rules = [.block("https://a.example/**")] }
            let second = try Interceptor { $0.rules = [.block("https://b.example/**")] }
            try Interceptor.registerForSharedSession(first)
            for interceptor in [second, first] {
                let error = #expect(throws: WaystationError.self) {
                    try Interceptor.registerForSharedSession(interceptor)
                }
                #expect(error?.code == .alreadyRegistered)
                #expect(error?.message.contains("loads through an interceptor already") == true)
                #expect(error?.message.contains("intercepted(by: interceptor)") == true)
            }
            let blocked = try #require(URL(string: "https://a.example/x"))
            let error = await #expect(throws: URLError.self) { try await URLSession.shared.data(from: blocked) }
            #expect(error?.code == .resourceUnavailable)
        }
    }
}
