/// A request that the server received, and the status of its answer.
public struct Visit: Hashable, Sendable, CustomStringConvertible {
    /// The method.
    public let method: String
    /// The path with its query.
    public let target: String
    /// The values of the cookies, by their names.
    public let cookies: [String: String]
    /// The body.
    public let body: String
    /// The status of the answer.
    public let status: Int

    /// For example `GET /pages/cart 200 (cart, token)`; the cookies' values are secret and left out.
    public var description: String { "\(method) \(target) \(status)\(names)" }

    private var names: String {
        cookies.isEmpty ? "" : " (" + cookies.keys.sorted().joined(separator: ", ") + ")"
    }

    private var isOfFile: Bool { target.hasPrefix("/pages/files/") && status == 200 }

    /// One line about the requests; the files of pages are only counted.
    public static func summary(of visits: [Visit]) -> String {
        guard !visits.isEmpty else { return "nothing" }
        let pages = visits.filter { !$0.isOfFile }.map(\.description)
        let files = Dictionary(grouping: visits.filter(\.isOfFile), by: \.names).sorted { $0.key < $1.key }
        return (pages + files.map { "\($1.count) file\($1.count == 1 ? "" : "s")\($0)" }).joined(separator: ", ")
    }
}
