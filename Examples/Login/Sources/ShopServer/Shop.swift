public import Foundation
import Hummingbird
import Synchronization

/// The shop's data: the customer of each token, and the requests that the server received.
///
/// It survives stops of the server, as a database would.
public final class Shop: Sendable {
    private struct Grant {
        let customer: Customer
        let end: Date
    }

    private struct State {
        var grants: [String: Grant] = [:]
        var visits: [Visit] = []
    }

    /// The lifetime of a token, in seconds.
    public static let tokenLifetime: TimeInterval = 3600

    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    /// Makes a shop without logins.
    public init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    /// Returns the requests since the last call, in the order of their answers.
    public func takeVisits() -> [Visit] {
        state.withLock { state in
            defer { state.visits = [] }
            return state.visits
        }
    }

    func note(_ visit: Visit) { state.withLock { $0.visits.append(visit) } }

    /// A new token for a customer; nil if no customer has that name and password.
    func token(for name: String, password: String) -> String? {
        guard let customer = Customer.all.first(where: { $0.name == name && $0.password == password }) else {
            return nil
        }
        let token = UUID().uuidString
        let end = now().addingTimeInterval(Self.tokenLifetime)
        state.withLock { $0.grants[token] = Grant(customer: customer, end: end) }
        return token
    }

    /// The customer of a request, by its token; nil without a valid one.
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
