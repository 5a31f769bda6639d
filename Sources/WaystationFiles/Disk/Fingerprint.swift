import Foundation
import WaystationCryptography
import WaystationFields

/// The results of reading a whole file: its digest, its first bytes, and whether it is UTF-8.
struct Fingerprint: Sendable {
    /// The SHA-256 of the content.
    let digest: Data
    /// The first bytes, as many as are needed to determine the media type.
    let leadingBytes: Data
    /// Whether all bytes together are valid UTF-8.
    let isUTF8: Bool

    /// A strong validator made from the content (RFC 9110 section 8.8.3): 128 bits of its SHA-256.
    var entityTag: EntityTag {
        let opaque = digest.prefix(16).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return EntityTag(strong: opaque)
    }
}

/// Takes the bytes of a file in order and makes its ``Fingerprint``.
struct Fingerprinter {
    private var hash = MessageDigest()
    private var leadingBytes = Data()
    private var text = UTF8Validator()

    mutating func take(_ bytes: Data) {
        hash.update(bytes)
        if leadingBytes.count < MediaType.leadingByteCount {
            leadingBytes += bytes.prefix(MediaType.leadingByteCount - leadingBytes.count)
        }
        text.take(bytes)
    }

    consuming func finish() -> Fingerprint {
        Fingerprint(
            digest: Data(hash.bytes),
            leadingBytes: leadingBytes,
            isUTF8: text.isValidAtEnd
        )
    }
}

/// The fingerprints of files that are too large to be kept in memory, by stamp.
///
/// The size is limited: when the table is full, it is emptied.
struct FingerprintMemo: Sendable {
    private static let limit = 4096
    private var known: [FileStamp: Fingerprint] = [:]

    subscript(stamp: FileStamp) -> Fingerprint? {
        get { known[stamp] }
        set {
            if known.count >= Self.limit { known.removeAll() }
            known[stamp] = newValue
        }
    }
}
