/// Somebody who has an account at the shop.
public struct Customer: Sendable {
    /// The name that is typed in.
    public let name: String
    /// The password.
    public let password: String
    /// What the pages behind the login show.
    let orders: String, wishes: String, address: String

    /// Who has an account; what each page shows of one stands on no page of the other.
    public static let ada = Customer(
        name: "ada",
        password: "engine",
        orders: "three brass gears",
        wishes: "a longer mill",
        address: "12 St James's Square"
    )
    /// The second one.
    public static let ben = Customer(
        name: "ben",
        password: "kite",
        orders: "a silk thread",
        wishes: "a dry cellar",
        address: "Market Street"
    )

    static let all = [ada, ben]
}
