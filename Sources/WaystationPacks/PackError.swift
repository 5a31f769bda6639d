import WaystationFoundation
public import WaystationHTTP

/// An error of a pack, of the server that offers it, or of its download and installation.
///
/// The message says what was wrong, where, and what to do about it.
public struct PackError: CodedError {
    /// The kind of an error.
    ///
    /// Later releases may add more kinds.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        package init(description: String) { self.description = description }

        /// A pack's manifest cannot be read, or contradicts itself.
        public static let invalidManifest = Code(description: "invalidManifest")
        /// A manifest or a catalogue is written in a version of its format that this library does not know.
        public static let unsupportedVersion = Code(description: "unsupportedVersion")
        /// Bytes do not have the digest that was announced for them.
        public static let damaged = Code(description: "damaged")
        /// Too few valid signatures by trusted keys.
        public static let untrusted = Code(description: "untrusted")
        /// A catalogue has expired.
        public static let expired = Code(description: "expired")
        /// A catalogue is older than one that was accepted before, or differs from it under the same serial number.
        public static let rolledBack = Code(description: "rolledBack")
        /// The server was not reached, or the connection broke.
        public static let network = Code(description: "network")
        /// The server refused the request; the message names its status.
        public static let refused = Code(description: "refused")
        /// A download ended before its last byte; the next attempt resumes there.
        public static let interrupted = Code(description: "interrupted")
        /// The server's answer is not valid.
        public static let badAnswer = Code(description: "badAnswer")
        /// There are more bytes than announced or allowed.
        public static let tooLarge = Code(description: "tooLarge")
        /// The disk is full.
        public static let noSpace = Code(description: "noSpace")
        /// A file operation failed.
        public static let fileSystem = Code(description: "fileSystem")
        /// A change was made and is in effect, but the disk did not confirm that it would survive a power cut.
        public static let notDurable = Code(description: "notDurable")
        /// The module, or the version of it, is not installed.
        public static let notInstalled = Code(description: "notInstalled")
        /// The calling task was cancelled; downloaded bytes are kept.
        public static let cancelled = Code(description: "cancelled")
        /// Another updater is working in the same directory.
        public static let busy = Code(description: "busy")
        /// The app passed a value that is not valid.
        public static let invalidArgument = Code(description: "invalidArgument")
    }

    /// The kind of the error.
    public let code: Code
    /// Whether the bytes are wrong, rather than the disk or the network failing.
    var isDamage: Bool { code == .damaged || code == .invalidManifest }
    /// A description of what was wrong, where, and what to do about it.
    public let message: String
    /// How long the server asked the client to wait, if it did.
    public let retryAfter: Duration?
    /// The error that caused this one.
    public let cause: (any Error)?

    package init(_ code: Code, _ message: String, retryAfter: Duration? = nil, cause: (any Error)? = nil) {
        self.code = code
        // A message may quote other errors, whose texts are not known here.
        self.message = message.shown(upTo: 2_000)
        self.retryAfter = retryAfter
        self.cause = cause
    }

    /// The code and the message, and the error that caused this one.
    public var description: String {
        cause.map { "\(code): \(message) (\(Self.text(of: $0).shown(upTo: 2_000)))" } ?? "\(code): \(message)"
    }

    /// The text of a cause; that of Foundation's errors of the network without their dictionaries, which repeat it.
    package static func text(of cause: any Error) -> String {
        guard let error = cause as? URLError else { return "\(cause)" }
        let number = "URLError \(error.errorCode)"
        return (error.errorUserInfo[NSLocalizedDescriptionKey] as? String).map { "\($0), \(number)" } ?? number
    }
}
