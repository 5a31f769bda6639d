import Foundation
import FoundationNetworking
import Synchronization
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

/// The server of one account, which all machines ask, and which records faults.
///
/// The body of an answer is its account, the number of the token that was sent and the answer's number among all.
final class FleetAccount: Sendable {
    enum Count: CaseIterable {
        case delivered, hit, shared, sharedForOne, loggedOut
    }

    /// The tokens and answers that had ended on a machine when a load began.
    struct Begun {
        /// Tokens up to this one ended with a log-out of this account.
        var deadToken: Int
        /// Answers up to this one were removed or replaced.
        var removedAnswer: Int
    }

    private struct State {
        var generator: SeededGenerator
        var tokens = 0
        /// Tokens up to this one are not handed out again.
        var ended = 0
        /// Tokens up to this one are answered with 401.
        var revoked = 0
        var held: [ScriptedTransport.Gate] = []
        var faults: [String] = []
        var counts: [Count: Int] = [:]
    }

    /// The number of answers of all accounts.
    private static let answers = Atomic(0)

    let name: String
    private let state: Mutex<State>

    init(_ name: String, seed: UInt64) {
        self.name = name
        state = Mutex(State(generator: SeededGenerator(seed: seed)))
    }

    var faults: [String] { state.withLock { $0.faults } }
    var counts: [Count: Int] { state.withLock { $0.counts } }

    /// The number of the last answer.
    static var lastAnswer: Int { answers.load(ordering: .sequentiallyConsistent) }

    /// Ends all tokens that there are, as far as new logins are concerned, and returns the number of the last one.
    func endTokens() -> Int {
        state.withLock { state in
            state.ended = state.tokens
            state.counts[.loggedOut, default: 0] += 1
            return state.ended
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

    /// The token for a login: often the one that the account has on the other machine, so that the two may share.
    func signIn() async -> LoginToken {
        let number = state.withLock { state in
            let isUsable = state.tokens > max(state.ended, state.revoked)
            if !isUsable || Int.random(in: 0..<8, using: &state.generator) == 0 { state.tokens += 1 }
            return state.tokens
        }
        return LoginToken("\(name)-\(number)")
    }

    func answer(_ request: URLRequest) -> ScriptedTransport.Answer {
        let field = request.value(forHTTPHeaderField: "Cookie") ?? ""
        let token = CookiePairs(field).value(of: "token")
        return state.withLock { state in
            if let token, !token.hasPrefix(name) { state.faults.append("\(name) sent \(token)") }
            let number = token.flatMap { $0.split(separator: "-").last }.flatMap { Int($0) }
            if let number, number <= state.revoked { return .status(401) }
            let answer = Self.answers.add(1, ordering: .sequentiallyConsistent).newValue
            if request.httpMethod == "POST" { return .ok("changed") }
            // Both accounts may get a response to a request without cookies.
            let body = field.isEmpty ? "anybody 0 \(answer)" : "\(name) \(number ?? 0) \(answer)"
            let fields = ["Cache-Control": "max-age=60"]
            guard request.url?.path == "/held" else { return .ok(body, fields: fields) }
            let gate = ScriptedTransport.Gate()
            state.held.append(gate)
            return .ok(body, fields: fields).held(at: gate)
        }
    }

    func noteDelivery(_ body: String, status: String, begun: Begun) {
        state.withLock { state in
            state.counts[.delivered, default: 0] += 1
            guard !body.isEmpty else { return }
            let parts = body.split(separator: " ")
            guard parts.count == 3, [name, "anybody"].contains(String(parts[0])), let token = Int(parts[1]),
                let answer = Int(parts[2])
            else { return state.faults.append("\(name) got \(body) (\(status))") }
            if token > 0, token <= begun.deadToken {
                state.faults.append("\(name) got \(body) by a load that began after its log-out (\(status))")
            }
            if answer <= begun.removedAnswer {
                state.faults.append("\(name) got \(body) by a load that began after its removal (\(status))")
            }
            guard status.contains("hit") else { return }
            state.counts[.hit, default: 0] += 1
            guard status.contains("detail=shared") else { return }
            state.counts[.shared, default: 0] += 1
            if parts[0] == name { state.counts[.sharedForOne, default: 0] += 1 }
        }
    }

    func noteFailure(_ error: any Error) {
        let failure = Failure(error)
        switch failure.reason {
        case .loggedOut, .loginTimedOut: break
        default: state.withLock { $0.faults.append("\(name) failed: \(error)") }
        }
    }
}
