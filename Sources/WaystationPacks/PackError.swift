/// Why something about a pack did not work.
public struct PackError: Error, Sendable, CustomStringConvertible {
    /// The sort of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name: short and stable.
        public let description: String

        /// A manifest that contradicts itself or cannot be read.
        public static let invalidManifest = Code(description: "invalidManifest")
        /// A format that this version does not know.
        public static let unsupportedVersion = Code(description: "unsupportedVersion")
        /// Bytes are not those that were announced or installed.
        public static let damaged = Code(description: "damaged")
        /// The pack, the version or the module is not installed.
        public static let notInstalled = Code(description: "notInstalled")
        /// Another pack of that version, with other content, is installed.
        public static let conflict = Code(description: "conflict")
        /// The disk refused or failed.
        public static let disk = Code(description: "disk")
        /// There is not enough room on the disk.
        public static let noSpace = Code(description: "noSpace")
    }

    /// The sort of failure.
    public let code: Code

    /// What was wrong, where, and what can be done.
    public let message: String

    /// The error beneath, if there was one.
    public let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Code, message and cause on one line.
    public var description: String {
        "\(code): \(message)" + (cause.map { " (\($0))" } ?? "")
    }
}
