import Foundation
import WaystationCryptography
import WaystationFields

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
