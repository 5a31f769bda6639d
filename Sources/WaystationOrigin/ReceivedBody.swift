import Foundation
import WaystationCryptography

/// The body of a request as it arrives: its bytes, or only their SHA-256.
struct ReceivedBody {
    private(set) var data = Data()
    private(set) var length = 0
    private var hash: MessageDigest?

    init(isDigested: Bool) {
        if isDigested { hash = MessageDigest() }
    }

    /// The body's SHA-256; nil unless the body is digested.
    var digest: Data? { hash.map { Data($0.bytes) } }

    mutating func append(_ bytes: ArraySlice<UInt8>) {
        length += bytes.count
        guard hash != nil else { return data.append(contentsOf: bytes) }
        bytes.withUnsafeBytes { hash?.update($0) }
    }
}
