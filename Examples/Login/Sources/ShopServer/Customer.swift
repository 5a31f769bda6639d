/// A person who has an account at the shop.
public struct Customer: Sendable {
    /// The name for the sign-in form.
    public let name: String
    /// The password.
    public let password: String
    /// The contents of the pages behind the login.
    let orders: String, wishes: String, address: String

    /// The first customer; no text of this customer's pages is on a page of the other.
    public static let ada = Customer(
        name: "ada",
        password: "engine",
        orders: "three brass gears",
        wishes: "a longer mill",
        address: "12 St James's Square"
    )
    /// The second customer.
    public static let ben = Customer(
        name: "ben",
        password: "kite",
        orders: "a silk thread",
        wishes: "a dry cellar",
        address: "Market Street"
    )

    static let all = [ada, ben]
}
