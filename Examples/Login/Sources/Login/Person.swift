import Foundation
import ShopApp
import ShopServer
import Synchronization

/// A person in front of the app, who fills in the sign-in form.
final class Person: Sendable {
    let credentials: Credentials
    private let count = Mutex(0)
    private let links = Mutex<[URL]>([])

    init(_ customer: Customer, password: String? = nil) {
        credentials = Credentials(name: customer.name, password: password ?? customer.password)
    }

    /// How often the form was shown.
    var timesAsked: Int { count.withLock { $0 } }

    /// The links that were opened in other apps.
    var opened: [URL] { links.withLock { $0 } }

    func open(_ link: URL) { links.withLock { $0.append(link) } }

    func fillIn() -> Credentials {
        count.withLock { $0 += 1 }
        return credentials
    }
}
