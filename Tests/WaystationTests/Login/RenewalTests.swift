import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite("A token that the server refuses")
struct RenewalTests {
    /// A script that accepts only this token.
    private static func accepting(_ token: String, _ fields: KeyValuePairs<String, String> = [:]) -> LoginFixture.Script
    {
        { request in
            request.value(of: "Cookie") == "token=\(token)"
                ? .ok("page", fields: fields) : .status(401, body: Data("no".utf8))
        }
    }

    @Test("is renewed, and the request is sent again without a report of the refusal")
    func renewed() async throws {
        let fixture = try LoginFixture(script: Self.accepting("t2"))
        try await fixture.login.logIn()
        #expect(try await fixture.load("/page") == (200, "page"))
        #expect(fixture.seen == ["token=t1", "token=t2"])
        #expect(fixture.provider.reasons == [.signIn, .renewal(refused: "t1")])
    }

    @Test("is renewed only once: the app gets the second refusal")
    func twice() async throws {
        let fixture = try LoginFixture(script: Self.accepting("t9"))
        try await fixture.login.logIn()
        #expect(try await fixture.load("/page") == (401, "no"))
        #expect(fixture.seen == ["token=t1", "token=t2"])
        #expect(fixture.provider.reasons.count == 2)
    }

    @Test("is renewed without a change of what the cache may answer after a redirect")
    func redirected() async throws {
        let fixture = try LoginFixture(
            rules: [
                .allow("http://127.0.0.1:*/kept", via: .cache(.cacheFirst(for: .days(1)))),
                .allow("http://127.0.0.1:*/**", via: .network, requiresLogin: .marked),
            ]
        ) { request in
            if request.path == "/kept" { return .ok("kept") }
            return request.value(of: "Cookie") == "token=t2" ? .redirect(302, to: "/kept") : .status(401)
        }
        try await fixture.login.logIn()
        #expect(try await fixture.load("/kept") == (200, "kept"))
        #expect(try await fixture.load("/start") == (200, "kept"))
        #expect(fixture.origin.requests.map(\.path) == ["/kept", "/start", "/start"])
    }

    @Test("is not renewed if the request had no token: the app gets the refusal")
    func withoutToken() async throws {
        let fixture = try LoginFixture(script: Self.accepting("t2"))
        #expect(try await fixture.load("/page") == (401, "no"))
        #expect(fixture.provider.reasons.isEmpty)
    }

    @Test("is renewed once for all requests that were refused with it")
    func shared() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try LoginFixture { request in
            request.value(of: "Cookie") == "token=t2" ? .ok("page") : .status(401).held(at: gate)
        }
        try await fixture.login.logIn()
        try await withThrowingTaskGroup { group in
            for number in 0..<6 {
                group.addTask { _ = try await fixture.load("/\(number)") }
            }
            await fixture.origin.waitForRequests(6)
            gate.open()
            try await group.waitForAll()
        }
        #expect(fixture.provider.reasons.count == 2)
        #expect(fixture.seen.filter { $0 == "token=t2" }.count == 6)
    }

    @Test("is not renewed when there is a newer one: the request is sent again with that one")
    func older() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try LoginFixture { request in
            guard request.value(of: "Cookie") != "token=t2" else { return .ok("page") }
            return request.path == "/late" ? .status(401).held(at: gate) : .status(401)
        }
        try await fixture.login.logIn()
        async let late = fixture.load("/late")
        await fixture.origin.waitForRequests(1)
        #expect(try await fixture.load("/page").status == 200)
        gate.open()
        #expect(try await late.status == 200)
        #expect(fixture.provider.reasons.count == 2)
    }

    @Test("is renewed, and the request is sent again with its body")
    func body() async throws {
        let fixture = try LoginFixture(script: Self.accepting("t2"))
        try await fixture.login.logIn()
        var request = URLRequest(url: fixture.origin.url("/form"))
        request.httpMethod = "POST"
        request.httpBody = Data("a=1".utf8)
        let (data, _) = try await fixture.session.data(for: request)
        #expect(data == Data("page".utf8))
        #expect(fixture.origin.requests.map(\.body) == [Data("a=1".utf8), Data("a=1".utf8)])
    }

    @Test("leads to an error when its renewal fails or takes too long", arguments: [true, false])
    func failing(isTimedOut: Bool) async throws {
        let provider = ScriptedProvider([], behind: isTimedOut ? Door() : nil)
        let fixture = try LoginFixture(provider, origin: ScriptedOrigin(script: Self.accepting("t2")))
        try fixture.insertToken("old")
        async let failure = fixture.failure("/page")
        await provider.waitForQuestions(1)
        if isTimedOut {
            await fixture.waitForWaiters(1)
            await fixture.passTimeLimit()
        }
        #expect(
            await failure == Failure(.userAuthenticationRequired, isTimedOut ? .loginTimedOut : .loginFailed)
        )
        #expect(provider.reasons == [.renewal(refused: "old")])
    }

    @Test("is renewed without losing the login's stored responses")
    func cached() async throws {
        let count = Counter()
        let fixture = try LoginFixture(via: .cache(.standard)) { request in
            guard request.path != "/refused" || request.value(of: "Cookie") == "token=t2" else { return .status(401) }
            return .ok("\(count.next())", fields: ["Cache-Control": "max-age=60"])
        }
        try await fixture.login.logIn()
        #expect(try await fixture.load("/page").body == "1")
        await fixture.cache.flush()
        #expect(try await fixture.load("/refused").body == "2")
        await fixture.cache.flush()
        #expect(try await fixture.load("/page").body == "1")
    }

    @Test("leads to a refusal that is not stored for the login")
    func notStored() async throws {
        let count = Counter()
        let fixture = try LoginFixture(via: .cache(.standard)) { _ in
            let fields: KeyValuePairs<String, String> = ["Cache-Control": "max-age=60"]
            return count.next() > 2 ? .ok("page", fields: fields) : .status(401, fields: fields)
        }
        try await fixture.login.logIn()
        #expect(try await fixture.load("/page").status == 401)
        await fixture.cache.flush()
        #expect(try await fixture.load("/page") == (200, "page"))
    }

    @Test("is renewed, and a refusal that may be stored does not answer the repeated request")
    func storableRefusal() async throws {
        let fixture = try LoginFixture(via: .cache(.standard)) { request in
            let fields: KeyValuePairs<String, String> = ["Cache-Control": "max-age=60"]
            return request.value(of: "Cookie") == "token=t2"
                ? .ok("page", fields: fields) : .status(401, fields: fields)
        }
        try await fixture.login.logIn()
        #expect(try await fixture.load("/page") == (200, "page"))
        #expect(fixture.seen == ["token=t1", "token=t2"])
    }
}
