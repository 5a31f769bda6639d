extension ExternalLinks {
    /// The schemes whose links belong to other apps.
    public enum Schemes: Sendable, Hashable, ExpressibleByArrayLiteral {
        /// These schemes, written without a colon; letter case does not count.
        case named(Set<String>)

        /// Every scheme except `http` and `https`.
        ///
        /// It also does not include `ws` and `wss`, which only web socket tasks load; `data`, whose URLs contain their
        /// own content; and the schemes that a rule of the interceptor names, such as `app` by `app://*/**`.
        case allExceptHTTP

        /// These schemes.
        public init(arrayLiteral schemes: String...) { self = .named(Set(schemes)) }

        static let notLinks: Set<String> = ["http", "https", "ws", "wss", "data"]

        var names: Set<String> {
            switch self {
            case .named(let names): names
            case .allExceptHTTP: []
            }
        }

        var lowercased: Schemes {
            switch self {
            case .named(let names): .named(Set(names.map { $0.lowercased() }))
            case .allExceptHTTP: self
            }
        }
    }
}
