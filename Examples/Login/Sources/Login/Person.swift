import ShopApp
import ShopServer
import Synchronization

/// Somebody in front of the app, who fills in the sign-in form.
final class Person: Sendable {
    let credentials: Credentials
    private let count = Mutex(0)

    init(_ customer: Customer, password: String? = nil) {
        credentials = Credentials(name: customer.name, password: password ?? customer.password)
    }

    /// How often the form was shown.
    var timesAsked: Int { count.withLock { $0 } }

    func fillIn() -> Credentials {
        count.withLock { $0 += 1 }
        return credentials
    }
}
