public import WaystationCaching

/// The result of a check of a whole store.
public struct StoreVerification: Sendable {
    /// A response that differs from what was stored.
    public struct Damage: Sendable {
        /// The identifier of the response in its store.
        public let id: Int64
        /// The key of the response, if it can be read.
        public let key: RequestKey?
        /// The problem, as text.
        public let problem: String
    }

    /// How many responses were checked.
    public internal(set) var entries = 0
    /// How many body files were read.
    public internal(set) var bodyFiles = 0
    /// How many body files exist that no response uses.
    ///
    /// They are left-overs of a kill, which the next opening removes; they are not damage.
    public internal(set) var unnamedFiles = 0
    /// The responses that are damaged, in the order of their URLs.
    public internal(set) var damaged: [Damage] = []
    /// The problems of the index itself.
    public internal(set) var indexProblems: [String] = []

    /// Whether neither the responses nor the index have problems.
    public var isIntact: Bool { damaged.isEmpty && indexProblems.isEmpty }
}
