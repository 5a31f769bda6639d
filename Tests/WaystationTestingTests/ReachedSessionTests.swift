import Foundation
import FoundationNetworking
import Testing
import Waystation

@testable import WaystationTesting

/// The sessions that code under test makes by itself, or shares.
@Suite(.timeLimit(.minutes(10)))
struct ReachedSessionTests {
    @Test func `the shared session gives each of 64 tests at the same time its own answers`() async throws {
        let origin = try ScriptedOrigin { _ in .ok("the network") }
        let url = origin.url("/same").absoluteString
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    try await withStubs {
                        Stub(.get(url), .ok("\(number)")).times(20)
                    } perform: { _ in
                        for _ in 0..<20 {
                            try await URLSession.shared.expect("\(number)", from: url)
                        }
                    }
                }
            }
            // Beside them, code that belongs to no test with stubs.
            group.addTask {
                for _ in 0..<20 { try await URLSession.shared.expect("the network", from: url) }
            }
            try await group.waitForAll()
        }
        #expect(origin.requestCount == 20)
    }

    @Test(.stubbed { Stub(.get("https://api.example/weather"), .json(["celsius": 21])).once() })
    func `a trait answers the shared session`() async throws {
        #expect(try await URLSession.shared.load("https://api.example/weather").text == #"{"celsius":21}"#)
    }

    @Test(.stubbed { Stub(.post("https://api.example/orders"), .template("{method} {field.X-Own}: {json.item}")) })
    func `sessions of every configuration are answered, with their own fields and bodies`() async throws {
        var request = URLRequest(url: try #require(URL(string: "https://api.example/orders")))
        request.httpMethod = "POST"
        for configuration in [URLSessionConfiguration.default, .ephemeral] {
            configuration.httpAdditionalHeaders = ["X-Own": "a"]
            let session = URLSession(configuration: configuration)
            let (data, _) = try await session.upload(for: request, from: Data(#"{"item":"tea"}"#.utf8))
            #expect(String(decoding: data, as: UTF8.self) == "POST a: tea")
        }
    }

    @Test(.stubbed { Stub(.get("https://api.example/"), .ok("stub")) })
    func `tasks with a completion handler are answered, and a session of the test in code that left the test's task`()
        async throws
    {
        let url = try #require(URL(string: "https://api.example/"))
        let body = await withCheckedContinuation { continuation in
            URLSession.shared.dataTask(with: url) { data, _, _ in continuation.resume(returning: data) }.resume()
        }
        #expect(body == Data("stub".utf8))
        let session = URLSession(configuration: .default)
        let detached = Task.detached { try await session.load("https://api.example/").text }
        #expect(try await detached.value == "stub")
    }

    @Test func `the shared session loads from the network in code that left the test's task`() async throws {
        let origin = try ScriptedOrigin { _ in .ok("the network") }
        let url = origin.url().absoluteString
        try await withStubs {
            Stub(.get(url), .ok("stub")).times(0)
        } perform: { _ in
            let text = try await Task.detached { try await URLSession.shared.load(url).text }.value
            #expect(text == "the network")
        }
    }

    @Test func `a session that several tests share gives each of them its own answers`() async throws {
        let origin = try ScriptedOrigin { _ in .ok("the network") }
        let url = origin.url().absoluteString
        var kept: URLSession?
        try await withStubs {
            Stub(.get(url), .ok("first")).once()
        } perform: { _ in
            let session = URLSession(configuration: .default)
            try await session.expect("first", from: url)
            kept = session
        }
        let session = try #require(kept)
        try await withStubs {
            Stub(.get(url), .ok("second")).once()
        } perform: { _ in
            try await session.expect("second", from: url)
        }
        try await session.expect("the network", from: url)
    }

    @Test func `stubs that are not for every session leave the shared one alone`() async throws {
        let origin = try ScriptedOrigin { _ in .ok("the network") }
        let url = origin.url().absoluteString
        try await withStubs(reaching: .ofTest) {
            Stub(.get(url), .ok("stub")).once()
        } perform: { _ in
            try await URLSession.shared.expect("the network", from: url)
            try await URLSession(configuration: .ephemeral).expect("the network", from: url)
            try await URLSession(configuration: .ofTest).expect("stub", from: url)
        }
    }

    @Test(
        .stubbed { Stub(.get("https://api.example/own"), .ok("stub", fields: ["Cache-Control": "max-age=60"])).once() }
    )
    func `the network of an interceptor that is under test is answered, below its cache`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://api.example/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: folder)
        }
        let session = URLSession(configuration: .default.intercepted(by: interceptor))
        #expect(try await session.load("https://api.example/own").text == "stub")
        #expect(try await session.load("https://api.example/own").text == "stub")
    }

    @Test func `the getters of this toolchain are observed, and others would be noticed`() {
        #expect(FoundationCure.reachedSessions.state == .applied)
        let other = FoundationCure.judgingSessions { _ = HTTPCookieStorage.shared }
        let getter = "getter URLSessionConfiguration.ephemeral in a shared library"
        #expect(other.state == .unknownLayout(missing: getter))
    }

    @Test(.stubbed { Stub(.get("https://api.example/file"), .ok("bytes")).once() })
    func `a download of the shared session gets its file`() async throws {
        let url = try #require(URL(string: "https://api.example/file"))
        let (file, _) = try await URLSession.shared.download(from: url)
        #expect(try Data(contentsOf: file) == Data("bytes".utf8))
        try FileManager.default.removeItem(at: file)
    }
}

@Suite(.recorded(mode: .replay))
struct RecordedSharedSessionTests {
    @Test func replayed() async throws {
        #expect(try await URLSession.shared.load("https://api.example/recorded").text == "from the file")
    }
}
