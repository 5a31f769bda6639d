/// What can be wrong with a pack, with the server that offers it, or with the way from there to here.
///
/// The message says what was wrong, where, and what to do about it.
public struct PackError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure.
    ///
    /// More may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        package init(description: String) { self.description = description }

        /// A pack's manifest cannot be read, or contradicts itself.
        public static let invalidManifest = Code(description: "invalidManifest")
        /// A manifest or a catalogue is written in a version of its format that this library does not know.
        public static let unsupportedVersion = Code(description: "unsupportedVersion")
        /// Bytes are not those that their digest promises.
        public static let damaged = Code(description: "damaged")
        /// No signature by a trusted key.
        public static let untrusted = Code(description: "untrusted")
        /// A catalogue is older than it may be.
        public static let expired = Code(description: "expired")
        /// A catalogue is older than one that was accepted before, or another under the same serial number.
        public static let rolledBack = Code(description: "rolledBack")
        /// The server was not reached, or the connection broke.
        public static let network = Code(description: "network")
        /// The server refused the request; the message names its status.
        public static let refused = Code(description: "refused")
        /// A download ended before its last byte; the next attempt goes on from there.
        public static let interrupted = Code(description: "interrupted")
        /// The server's answer cannot be understood.
        public static let badAnswer = Code(description: "badAnswer")
        /// More bytes than were announced or are allowed.
        public static let tooLarge = Code(description: "tooLarge")
        /// The disk is full.
        public static let noSpace = Code(description: "noSpace")
        /// A file operation failed.
        public static let fileSystem = Code(description: "fileSystem")
        /// A change was made and is in effect, and the disk did not confirm that it outlives a power cut.
        public static let notDurable = Code(description: "notDurable")
        /// The module, or the version of it, is not installed.
        public static let notInstalled = Code(description: "notInstalled")
        /// The task that asked was cancelled; what was downloaded is kept.
        public static let cancelled = Code(description: "cancelled")
        /// Another updater is at work in the same directory.
        public static let busy = Code(description: "busy")
        /// A value that the app gave cannot be used.
        public static let invalidArgument = Code(description: "invalidArgument")
    }

    /// The kind of the failure.
    public let code: Code
    /// Whether bytes are wrong, and not the disk or the network at fault.
    var isDamage: Bool { code == .damaged || code == .invalidManifest }
    /// What was wrong, where, and what to do about it.
    public let message: String
    /// How long the server wants to be left alone, when it said so.
    public let retryAfter: Duration?
    /// The error behind this one.
    public let cause: (any Error)?

    package init(_ code: Code, _ message: String, retryAfter: Duration? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
        self.cause = cause
    }

    /// Code and message, and the error behind them.
    public var description: String {
        cause.map { "\(code): \(message) (\($0))" } ?? "\(code): \(message)"
    }
}
