import WaystationHTTP
import WaystationPacks

extension NetworkCondition {
    /// The names that every client supports.
    private static let known: [NetworkCondition] = [.any, .unmetered, .wired, .wireless, .cellular]

    /// Checks that clients can support this condition.
    ///
    /// A client downloads nothing under an unknown condition, so a mistyped name would stop all updates.
    func checkForPublishing() throws(PackError) {
        if Self.known.contains(self) { return }
        let isOwn =
            description.hasPrefix("x-") && (3...64).contains(description.utf8.count)
            && description.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        guard isOwn else {
            throw PackError(
                .invalidArgument,
                "\(description.quoted()) is not a network condition: "
                    + "use \(Self.known.map(\.description).joined(separator: ", ")), "
                    + "or a name of the app's own such as x-office, in small letters, digits and hyphens"
            )
        }
    }
}
