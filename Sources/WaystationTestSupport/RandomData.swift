import CWaystation.Libcrypto
package import Foundation

extension Data {
    /// Makes bytes that differ for each seed and that cannot be compressed.
    ///
    /// They are AES's stream of keys, since a loop over bytes is slow in a debug build.
    package static func random(_ count: Int, seed: UInt64 = 1) -> Data {
        let key = Swift.withUnsafeBytes(of: (seed.littleEndian, UInt64(0))) { Array($0) }
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        EVP_EncryptInit_ex(context, EVP_aes_128_ctr(), nil, key, [UInt8](repeating: 0, count: 16))
        var bytes = Data(count: count)
        bytes.withUnsafeMutableBytes { buffer in
            let start = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            var written: CInt = 0
            EVP_EncryptUpdate(context, start, &written, start, CInt(count))
        }
        return bytes
    }
}
