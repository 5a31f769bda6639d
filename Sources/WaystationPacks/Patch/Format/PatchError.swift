import Foundation
public import WaystationHTTP
import WaystationStorage

/// The error of reading, applying or making a patch.
///
/// ``code`` is for programs, ``message`` for people: it says what was wrong, where, and what to do. After an error, the
/// output is not usable: delete the written bytes, and fetch the whole new file instead.
public struct PatchError: CodedError {
    /// The kind of an error; later releases may add more.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// A short name that does not change between releases, for logs and metrics.
        public let description: String

        private init(_ name: String) { description = name }

        /// The old bytes, the new bytes or the patch could not be read, or ended before their announced length.
        public static let unreadable = Code("unreadable")
        /// The bytes are not a patch of this format.
        public static let notAPatch = Code("not-a-patch")
        /// The header announces lengths that are negative or do not fit into the patch.
        public static let badHeader = Code("bad-header")
        /// A length is above a limit.
        public static let tooLarge = Code("too-large")
        /// A block is not valid bzip2 data.
        public static let badCompression = Code("bad-compression")
        /// An instruction exceeds the new bytes, or moves the position in the old bytes out of the range of `Int`.
        public static let badInstruction = Code("bad-instruction")
        /// A block ends before the new bytes are complete.
        public static let endsEarly = Code("ends-early")
        /// A block continues after the new bytes are complete.
        public static let leftover = Code("leftover")
        /// The old bytes do not have the expected digest.
        public static let wrongOld = Code("wrong-old")
        /// The new bytes do not have the expected digest.
        public static let wrongNew = Code("wrong-new")
        /// There was not enough memory for bzip2.
        public static let outOfMemory = Code("out-of-memory")
    }

    /// The kind of the error.
    public let code: Code
    /// A description of what was wrong, where, and what to do.
    public let message: String
    /// The error that caused this one, such as one of the file system.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message.shown(upTo: 1_000)
        self.cause = cause
    }

    /// The message, and the cause if there is one.
    public var description: String {
        "patch: \(message) [\(code)]" + (cause.map { ": \("\($0)".shown(upTo: 2_000))" } ?? "")
    }
}

/// An expected digest of the old or the new bytes of a patch.
public struct PatchDigest: Hashable, Sendable, CustomStringConvertible {
    private enum Algorithm: String {
        case sha256, md5
    }

    private let algorithm: Algorithm
    private let bytes: Data

    /// A SHA-256 digest of 32 bytes; with another number of bytes, it matches nothing.
    public static func sha256(_ bytes: some Sequence<UInt8>) -> PatchDigest {
        PatchDigest(algorithm: .sha256, bytes: Data(bytes))
    }

    /// An MD5 digest of 16 bytes, for servers that support nothing better.
    ///
    /// It detects accidental damage, but not forgery.
    public static func md5(_ bytes: some Sequence<UInt8>) -> PatchDigest {
        PatchDigest(algorithm: .md5, bytes: Data(bytes))
    }

    /// The algorithm and the digest in hexadecimal, such as `sha256:e3b0…`.
    public var description: String { "\(algorithm.rawValue):" + bytes.hexadecimal }

    /// Computes a digest of the same kind from bytes that arrive in parts.
    struct Hasher {
        private let algorithm: Algorithm
        private var digest: MessageDigest

        init(like digest: PatchDigest) {
            algorithm = digest.algorithm
            self.digest = MessageDigest(algorithm == .sha256 ? .sha256 : .md5)
        }

        mutating func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bytes) }

        func finalize() -> PatchDigest { PatchDigest(algorithm: algorithm, bytes: Data(digest.bytes)) }
    }
}
