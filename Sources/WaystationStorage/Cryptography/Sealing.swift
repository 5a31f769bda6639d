import CWaystation.Libcrypto
package import Foundation

/// Seals values with AES-256-GCM (NIST SP 800-38D): a random nonce of 12 bytes, the encrypted value, a tag of 16 bytes.
package enum Sealing {
    /// The number of bytes by which a sealed value is longer.
    package static let overhead = nonceLength + tagLength

    private static let nonceLength = 12
    private static let tagLength = 16

    /// Seals a value.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: 32 bytes.
    ///   - context: Bytes that are authenticated with the value, and are not part of the result.
    /// - Returns: The sealed value; nil if the configuration of libcrypto on this machine refuses the algorithm.
    package static func seal(_ value: Data, key: [UInt8], context: Data) -> Data? {
        let nonce = RandomBytes.make(nonceLength)
        return run(Array(value), key, nonce, context, isSealing: true) { cipher, sealed in
            var tag = [UInt8](repeating: 0, count: tagLength)
            guard EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, CInt(tagLength), &tag) == 1 else { return nil }
            return Data(nonce + sealed + tag)
        }
    }

    /// Opens a sealed value; nil if it was not sealed with this key and this context.
    package static func open(_ sealed: Data, key: [UInt8], context: Data) -> Data? {
        guard sealed.count >= overhead else { return nil }
        var tag = Array(sealed.suffix(tagLength))
        let value = Array(sealed.dropFirst(nonceLength).dropLast(tagLength))
        return run(value, key, Array(sealed.prefix(nonceLength)), context, isSealing: false) { cipher, opened in
            Data(opened)
        } beforeEnd: { cipher in
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, CInt(tagLength), &tag) == 1
        }
    }

    /// Encrypts or decrypts a value; nil if libcrypto reports an error, as it does if the tag does not match.
    private static func run(
        _ value: [UInt8],
        _ key: [UInt8],
        _ nonce: [UInt8],
        _ context: Data,
        isSealing: Bool,
        result: (_ cipher: OpaquePointer, _ output: [UInt8]) -> Data?,
        beforeEnd: (_ cipher: OpaquePointer) -> Bool = { _ in true }
    ) -> Data? {
        guard key.count == 32, let length = CInt(exactly: value.count),
            let contextLength = CInt(exactly: context.count), let cipher = EVP_CIPHER_CTX_new()
        else { return nil }
        defer { EVP_CIPHER_CTX_free(cipher) }
        var output = [UInt8](repeating: 0, count: value.count)
        var count: CInt = 0
        guard EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), nil, key, nonce, isSealing ? 1 : 0) == 1,
            EVP_CipherUpdate(cipher, nil, &count, Array(context), contextLength) == 1,
            EVP_CipherUpdate(cipher, &output, &count, value, length) == 1,
            beforeEnd(cipher)
        else { return nil }
        // This mode has no further bytes at the end.
        var rest = [UInt8](repeating: 0, count: tagLength)
        guard EVP_CipherFinal_ex(cipher, &rest, &count) == 1 else { return nil }
        return result(cipher, output)
    }
}

/// Bytes of the system's source of random numbers.
package enum RandomBytes {
    package static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in .random(in: .min ... .max, using: &generator) }
    }
}
