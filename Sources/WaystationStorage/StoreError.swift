import WaystationFields

/// Why an operation of a store did not work.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// The sort of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name: short and stable.
        public let description: String

        /// Bytes on disk differ from those that were stored.
        public static let damaged = Code(description: "damaged")
        /// The store cannot be opened, or another process held it for too long.
        public static let unavailable = Code(description: "unavailable")
        /// The disk is full.
        public static let full = Code(description: "full")
        /// The body is larger than the store accepts, or than the space beside other bodies that are being written.
        public static let tooLarge = Code(description: "tooLarge")
        /// The body did not have the length that was announced.
        public static let truncated = Code(description: "truncated")
        /// The writer was abandoned before its commit.
        public static let abandoned = Code(description: "abandoned")
        /// The response was invalidated while it was on its way.
        public static let invalidated = Code(description: "invalidated")
        /// The directory does not contain a store.
        public static let notAStore = Code(description: "notAStore")
        /// The directory cannot hold a store: it cannot be made, it or something in it is a link, or another user owns
        /// it or may write to it.
        public static let unusableDirectory = Code(description: "unusableDirectory")
        /// The store was written by a later version.
        public static let newerVersion = Code(description: "newerVersion")
    }

    /// The sort of failure.
    public let code: Code

    /// The problem, its place, and what can be done.
    public let message: String

    /// The underlying error, if there was one.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message.shown(upTo: 2_000)
        self.cause = cause
    }

    /// Code, message and cause on one line.
    public var description: String {
        "\(code): \(message)" + (cause.map { " (\("\($0)".shown(upTo: 2_000)))" } ?? "")
    }
}
