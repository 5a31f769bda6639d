import Foundation
import FoundationNetworking
import Logging
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

/// Runs logins, renewals, log-outs, requests and cookie changes of two accounts in ten thousand random orders.
@Suite("Interleaved requests of two accounts")
struct InterleavingTests {
    private static let rounds = 10_000

    @Test("do not exchange tokens or responses, do not use those from before a log-out, and do not hang")
    func interleavings() async throws {
        let folder = try TemporaryDirectory()
        let cache = try ResponseCache(directory: folder.url, environment: .patient)
        let clock = ManualClock()
        let players = [
            try Player("alice", cache, clock, seed: 1), try Player("bob", cache, clock, seed: 2),
        ]
        for seed in 0..<Self.rounds {
            var generator = SeededGenerator(seed: UInt64(seed))
            let pending = PendingMoves()
            for _ in 0..<Int.random(in: 2...5, using: &generator) {
                let player = players[Int.random(in: 0...1, using: &generator)]
                let move = Player.Move.random(using: &generator)
                let turns = Int.random(in: 0...12, using: &generator)
                pending.begin("\(player.name): \(move)", afterTurns: turns) { await player.make(move) }
            }
            let patience = Int.random(in: 0...60, using: &generator)
            for _ in 0..<patience { await Task.yield() }
            // Moves that have not ended wait for a time limit or for an answer that is held back.
            let hanging = await pending.end {
                for player in players { player.server.release() }
                clock.fire()
                await Task.yield()
            }
            guard hanging.isEmpty else {
                let conditions = players.map(\.condition).joined(separator: "; ")
                Issue.record("seed \(seed): \(hanging) do not end; \(conditions)")
                return
            }
            let faults = players.flatMap(\.server.faults)
            guard faults.isEmpty else {
                Issue.record("seed \(seed): \(faults.joined(separator: "; "))")
                return
            }
        }
        for player in players {
            let counts = player.server.counts
            // Each kind of event has happened many times.
            for kind in Server.Count.allCases {
                #expect(counts[kind, default: 0] > Self.rounds / 200, "\(player.name): \(kind)")
            }
        }
    }
}

/// One account with its app and its server.
private final class Player: Sendable {
    enum Move: CaseIterable {
        case page, markedPage, heldPage, logOut, revoke, setCookie, removeToken, setInStorage

        static func random(using generator: inout SeededGenerator) -> Move {
            // Most moves load pages.
            let all: [Move] = allCases + [.page, .markedPage, .markedPage, .heldPage, .logOut]
            return all.randomElement(using: &generator) ?? .page
        }
    }

    let name: String
    let server: Server
    private let login: LoginSession
    private let cookies: CookieStore
    private let storage: HTTPCookieStorage
    private let session: URLSession

    init(_ name: String, _ cache: ResponseCache, _ clock: ManualClock, seed: UInt64) throws {
        self.name = name
        let server = Server(name, seed: seed)
        self.server = server
        let cookies = CookieStore()
        let login = LoginSession(account: name, cookie: .named("token", domain: "shop.example")) { reason in
            try await server.signIn(reason)
        }
        let network = ScriptedTransport { server.answer($0) }
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .cache(.standard), requiresLogin: .marked)]
            $0.cache = cache
            $0.cookies = cookies
            $0.login = login
            $0.makeTransport = { _ in network }
            $0.schedule = clock.schedule
            // Each time limit would be a line.
            $0.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        }
        (self.login, self.cookies) = (login, cookies)
        let configuration = URLSessionConfiguration.ephemeral
        storage = try #require(configuration.httpCookieStorage)
        session = URLSession(configuration: configuration.intercepted(by: interceptor))
    }

    /// The state of the login, and the requests and events so far.
    var condition: String { "\(name): \(login.state.withLock(\.login)), \(server.counts)" }

    func make(_ move: Move) async {
        switch move {
        case .page: await load("/page")
        case .markedPage: await load("/marked?needAuth=true")
        case .heldPage: await load("/held?needAuth=true")
        case .logOut:
            let dead = server.tokensBegun
            await login.logOut()
            server.noteLogOut(upTo: dead)
        case .revoke: server.revoke()
        case .setCookie:
            guard let cookie = try? Cookie(name: "pref", value: name, domain: "shop.example", creation: Date()) else {
                return
            }
            try? cookies.insert(cookie)
        case .removeToken: cookies.remove(login.id)
        case .setInStorage:
            let properties: [HTTPCookiePropertyKey: Any] =
                [.name: "native", .value: name, .domain: ".shop.example", .path: "/", .secure: "TRUE"]
            if let cookie = HTTPCookie(properties: properties) { storage.setCookie(cookie) }
        }
    }

    private func load(_ path: String) async {
        guard let url = URL(string: "https://shop.example\(path)") else { return }
        let begun = server.loadBegins()
        do {
            let (data, response) = try await session.data(from: url)
            let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status") ?? ""
            server.noteDelivery(String(decoding: data, as: UTF8.self), isHit: status.contains("hit"), begun: begun)
        } catch {
            server.noteFailure(error)
        }
    }
}

/// The server of one account, which records faults.
///
/// Its tokens are numbered. It is a fault if a request or response has a token from before a log-out after that
/// log-out has returned.
private final class Server: Sendable {
    enum Count: CaseIterable {
        case delivered, hit, renewed, loggedOut, refusedLoads, timedOut
    }

    /// The tokens that a log-out had ended when a load began.
    struct Begun {
        let dead: Int
    }

    private struct State {
        var generator: SeededGenerator
        var tokens = 0
        /// Tokens up to this one ended with a log-out that has returned.
        var dead = 0
        /// Tokens up to this one are answered with 401.
        var revoked = 0
        var held: [ScriptedTransport.Gate] = []
        var faults: [String] = []
        var counts: [Count: Int] = [:]
    }

    private let name: String
    private let state: Mutex<State>

    init(_ name: String, seed: UInt64) {
        self.name = name
        state = Mutex(State(generator: SeededGenerator(seed: seed)))
    }

    var faults: [String] { state.withLock { $0.faults } }
    var counts: [Count: Int] { state.withLock { $0.counts } }

    /// The number of tokens that the provider has begun to make.
    var tokensBegun: Int { state.withLock { $0.tokens } }

    func noteLogOut(upTo dead: Int) {
        state.withLock { state in
            state.dead = max(state.dead, dead)
            state.counts[.loggedOut, default: 0] += 1
        }
    }

    func revoke() { state.withLock { $0.revoked = $0.tokens } }

    /// Releases the answers that were held back.
    func release() {
        let gates = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for gate in gates { gate.open() }
    }

    func signIn(_ reason: LoginReason) async throws -> LoginToken {
        let (number, kind, pause) = state.withLock { state in
            state.tokens += 1
            if case .renewal = reason { state.counts[.renewed, default: 0] += 1 }
            let kind = Int.random(in: 0..<12, using: &state.generator)
            return (state.tokens, kind, Int.random(in: 0...10, using: &state.generator))
        }
        for _ in 0..<pause { await Task.yield() }
        switch kind {
        case 0: throw URLError(.cannotConnectToHost)
        case 1: await Door().pass()
        default: break
        }
        return LoginToken("\(name)-\(number)")
    }

    func answer(_ request: URLRequest) -> ScriptedTransport.Answer {
        let field = request.value(forHTTPHeaderField: "Cookie") ?? ""
        let pairs = CookiePairs(field)
        let token = pairs.value(of: "token")
        return state.withLock { state in
            for pair in pairs.pairs where !pair.contains(name) { state.faults.append("\(name) sent \(pair)") }
            let number = token.flatMap(Self.number)
            if let number, number <= state.dead { state.faults.append("\(name) sent \(field) after a log-out") }
            if let number, number <= state.revoked { return .status(401) }
            // Both accounts may get a response to a request without cookies.
            let body = field.isEmpty ? "anybody 0" : "\(name) \(number ?? 0)"
            let fields = ["Cache-Control": "max-age=60", "Set-Cookie": "sid=\(name)-\(number ?? 0); Path=/; Secure"]
            guard request.url?.path == "/held" else { return .ok(body, fields: fields) }
            let gate = ScriptedTransport.Gate()
            state.held.append(gate)
            return .ok(body, fields: fields).held(at: gate)
        }
    }

    private static func number(_ text: String) -> Int? { text.split(separator: "-").last.flatMap { Int($0) } }

    func loadBegins() -> Begun { state.withLock { Begun(dead: $0.dead) } }

    func noteDelivery(_ body: String, isHit: Bool, begun: Begun) {
        state.withLock { state in
            state.counts[.delivered, default: 0] += 1
            if isHit { state.counts[.hit, default: 0] += 1 }
            guard !body.isEmpty else { return }
            let parts = body.split(separator: " ")
            guard parts.count == 2, [name, "anybody"].contains(String(parts[0])), let number = Int(parts[1]) else {
                return state.faults.append("\(name) got \(body)")
            }
            if number > 0, number <= begun.dead {
                state.faults.append("\(name) got \(body) by a load that began after its log-out")
            }
        }
    }

    func noteFailure(_ error: any Error) {
        let failure = Failure(error)
        state.withLock { state in
            switch failure.reason {
            case .loggedOut: state.counts[.refusedLoads, default: 0] += 1
            case .loginTimedOut: state.counts[.timedOut, default: 0] += 1
            case .loginFailed: break
            default: state.faults.append("\(name) failed: \(error)")
            }
        }
    }
}
