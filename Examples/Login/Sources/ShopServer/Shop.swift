public import Foundation
import Hummingbird
import Synchronization

/// What the server knows: who is logged in by which token, and what it was sent.
///
/// It outlives the server's stops, as a database would.
public final class Shop: Sendable {
    private struct Grant {
        let customer: Customer
        let end: Date
    }

    private struct State {
        var grants: [String: Grant] = [:]
        var visits: [Visit] = []
    }

    /// How long a token lasts, in seconds.
    public static let tokenLifetime: TimeInterval = 3600

    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    /// A shop where nobody is logged in.
    public init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    /// What it was sent since this was last asked, in the order of its answers.
    public func takeVisits() -> [Visit] {
        state.withLock { state in
            defer { state.visits = [] }
            return state.visits
        }
    }

    func note(_ visit: Visit) { state.withLock { $0.visits.append(visit) } }

    /// A new token for a customer; nil where there is none of that name and password.
    func token(for name: String, password: String) -> String? {
        guard let customer = Customer.all.first(where: { $0.name == name && $0.password == password }) else {
            return nil
        }
        let token = UUID().uuidString
        let end = now().addingTimeInterval(Self.tokenLifetime)
        state.withLock { $0.grants[token] = Grant(customer: customer, end: end) }
        return token
    }

    /// Whose request it is, by its token; nil without one that counts.
    func customer(of request: Request) -> Customer? {
        guard let token = request.cookies["token"]?.value, let grant = state.withLock({ $0.grants[token] }),
            grant.end > now()
        else { return nil }
        return grant.customer
    }

    /// Makes the token of a request invalid.
    func revokeToken(of request: Request) {
        guard let token = request.cookies["token"]?.value else { return }
        _ = state.withLock { $0.grants.removeValue(forKey: token) }
    }
}
