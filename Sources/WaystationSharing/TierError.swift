import WaystationFields

/// Why an operation of a ``SharedTier`` did not work.
public struct TierError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sort of failure.
    ///
    /// More sorts may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name: short and stable.
        public let description: String

        /// There is no connection to the tier.
        public static let unreachable = Code(description: "unreachable")
        /// The tier did not answer before the deadline.
        public static let late = Code(description: "late")
        /// The tier refused the operation, for instance because it is full or because its user lacks a permission.
        public static let refused = Code(description: "refused")
        /// The tier's answer cannot be understood.
        public static let malformed = Code(description: "malformed")
        /// The options of the tier have a mistake, such as a URL without a host.
        public static let misconfigured = Code(description: "misconfigured")
    }

    /// The sort of failure.
    public let code: Code

    /// The problem, and what can be done; it names no value.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message.shown(upTo: 1_000)
    }

    /// Code and message on one line.
    public var description: String { "\(code): \(message)" }
}
