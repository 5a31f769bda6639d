import Synchronization

@testable import Waystation

/// A web view's cookie storage, which answers when the test lets it.
final class WebView: CookieStorage {
    /// The calls that a test can let fail.
    enum Call: Hashable {
        case cookies, set, remove
    }

    private struct Failure: Error {}

    private struct State {
        var cookies: [Cookie.ID: Cookie] = [:]
        var calls: [Call: Int] = [:]
        var running = 0
        var mostAtOnce = 0
    }

    let name = "web view"
    private let state = Mutex(State())
    private let door: Door?
    private let fails: @Sendable (_ call: Call, _ number: Int) -> Bool

    /// Makes a storage.
    ///
    /// - Parameters:
    ///   - door: Each call waits at this door; nil answers at once.
    ///   - fails: Whether a call fails; `number` counts the calls of its kind, from one.
    init(behind door: Door? = nil, fails: @escaping @Sendable (_ call: Call, _ number: Int) -> Bool = { _, _ in false })
    {
        self.door = door
        self.fails = fails
    }

    var held: [Cookie] { state.withLock { $0.cookies.values.sorted { $0.name < $1.name } } }
    var isBusy: Bool { state.withLock { $0.running > 0 } }
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    /// Changes a cookie as the web view itself would.
    func put(_ cookie: Cookie?, _ id: Cookie.ID? = nil) {
        state.withLock { state in
            if let id = id ?? cookie?.id { state.cookies[id] = cookie }
        }
    }

    private func answer<Result: Sendable>(
        _ call: Call,
        _ body: @Sendable (inout State) -> Result
    ) async throws -> Result {
        let number = state.withLock { state in
            state.calls[call, default: 0] += 1
            state.running += 1
            state.mostAtOnce = max(state.mostAtOnce, state.running)
            return state.calls[call, default: 0]
        }
        await door?.pass()
        defer { state.withLock { $0.running -= 1 } }
        if fails(call, number) { throw Failure() }
        return state.withLock { body(&$0) }
    }

    func cookies() async throws -> [Cookie] { try await answer(.cookies) { Array($0.cookies.values) } }
    func set(_ cookie: Cookie) async throws { try await answer(.set) { $0.cookies[cookie.id] = cookie } }
    func remove(_ id: Cookie.ID) async throws { try await answer(.remove) { $0.cookies[id] = nil } }
}
