import CWaystation.Libcrypto
package import Foundation

/// Signatures with Ed25519 (RFC 8032), by the system's libcrypto.
package enum Signatures {
    /// The number of bytes of a private key and of a public key.
    package static let keyLength = 32
    private static let length = 64

    /// The public half of a private key; nil if `key` does not have 32 bytes, or if the configuration of libcrypto on this
    /// machine refuses the algorithm.
    package static func publicKey(of key: Data) -> Data? {
        with(EVP_PKEY_new_raw_private_key, key) { key in
            var bytes = [UInt8](repeating: 0, count: keyLength)
            var count = bytes.count
            guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1 else { return nil }
            return Data(bytes.prefix(count))
        }
    }

    /// The signature of a message, 64 bytes; nil in the cases of ``publicKey(of:)``.
    package static func signature(of message: Data, by key: Data) -> Data? {
        with(EVP_PKEY_new_raw_private_key, key) { key in
            withContext { context in
                var bytes = [UInt8](repeating: 0, count: length)
                var count = bytes.count
                let message = Array(message)
                guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
                    EVP_DigestSign(context, &bytes, &count, message, message.count) == 1
                else { return nil }
                return Data(bytes.prefix(count))
            }
        }
    }

    /// Whether the owner of a public key has signed a message.
    package static func isValid(_ signature: Data, of message: Data, by key: Data) -> Bool {
        let isValid: Bool? = with(EVP_PKEY_new_raw_public_key, key) { key in
            withContext { context in
                let (signature, message) = (Array(signature), Array(message))
                guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return nil }
                return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
            }
        }
        return isValid ?? false
    }

    private typealias MakeKey = (CInt, OpaquePointer?, UnsafePointer<UInt8>?, Int) -> OpaquePointer?

    private static func with<Result>(_ make: MakeKey, _ bytes: Data, _ use: (OpaquePointer) -> Result?) -> Result? {
        guard bytes.count == keyLength, let key = make(EVP_PKEY_ED25519, nil, Array(bytes), bytes.count) else {
            return nil
        }
        defer { EVP_PKEY_free(key) }
        return use(key)
    }

    private static func withContext<Result>(_ use: (OpaquePointer) -> Result?) -> Result? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        return use(context)
    }
}
