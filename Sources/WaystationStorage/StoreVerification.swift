/// What a check of a whole store has found.
public struct StoreVerification: Sendable {
    /// A response that is not what was stored.
    public struct Damage: Sendable {
        /// Names the response in its store.
        public let id: Int64
        /// What it answers, where that can be read.
        public let key: RequestKey?
        /// What is wrong.
        public let problem: String
    }

    /// How many responses were checked.
    public internal(set) var entries = 0
    /// How many body files were read.
    public internal(set) var bodyFiles = 0
    /// How many body files no response names.
    ///
    /// These are left-overs of a kill, which the next opening sweeps, and no damage.
    public internal(set) var unnamedFiles = 0
    /// The responses that are damaged, in the order of their URLs.
    public internal(set) var damaged: [Damage] = []
    /// What is wrong with the index itself.
    public internal(set) var indexProblems: [String] = []

    /// Whether everything is as it was stored.
    public var isIntact: Bool { damaged.isEmpty && indexProblems.isEmpty }
}
