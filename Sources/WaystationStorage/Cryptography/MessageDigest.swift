import CWaystation.Libcrypto
package import Foundation

/// The digest of bytes that arrive in parts, by the functions of the system's libcrypto.
package struct MessageDigest: Sendable {
    package enum Algorithm: Sendable {
        /// SHA-256 (FIPS 180-4): 32 bytes.
        case sha256
        /// SHA-512 (FIPS 180-4): 64 bytes.
        case sha512
        /// SHA-1 (FIPS 180-4): 20 bytes. It detects damage, but not forgery.
        case sha1
        /// MD5 (RFC 1321): 16 bytes. It detects damage, but not forgery.
        case md5
    }

    private enum State: Sendable {
        case sha256(SHA256_CTX)
        case sha512(SHA512_CTX)
        case sha1(SHA_CTX)
        case md5(MD5_CTX)
    }

    private var state: State

    /// Makes the digest of no bytes so far.
    package init(_ algorithm: Algorithm = .sha256) {
        switch algorithm {
        case .sha256:
            var context = SHA256_CTX()
            SHA256_Init(&context)
            state = .sha256(context)
        case .sha512:
            var context = SHA512_CTX()
            SHA512_Init(&context)
            state = .sha512(context)
        case .sha1:
            var context = SHA_CTX()
            SHA1_Init(&context)
            state = .sha1(context)
        case .md5:
            var context = MD5_CTX()
            MD5_Init(&context)
            state = .md5(context)
        }
    }

    /// Takes the next bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .sha256(var context):
            SHA256_Update(&context, bytes.baseAddress, bytes.count)
            state = .sha256(context)
        case .sha512(var context):
            SHA512_Update(&context, bytes.baseAddress, bytes.count)
            state = .sha512(context)
        case .sha1(var context):
            SHA1_Update(&context, bytes.baseAddress, bytes.count)
            state = .sha1(context)
        case .md5(var context):
            MD5_Update(&context, bytes.baseAddress, bytes.count)
            state = .md5(context)
        }
    }

    /// Takes the next bytes.
    package mutating func update(_ bytes: some DataProtocol) {
        for region in bytes.regions { region.withUnsafeBytes { update($0) } }
    }

    /// The digest of all bytes so far; more may follow.
    package var bytes: [UInt8] {
        switch state {
        case .sha256(var context):
            [UInt8](unsafeUninitializedCapacity: 32) {
                SHA256_Final($0.baseAddress, &context)
                $1 = 32
            }
        case .sha512(var context):
            [UInt8](unsafeUninitializedCapacity: 64) {
                SHA512_Final($0.baseAddress, &context)
                $1 = 64
            }
        case .sha1(var context):
            [UInt8](unsafeUninitializedCapacity: 20) {
                SHA1_Final($0.baseAddress, &context)
                $1 = 20
            }
        case .md5(var context):
            [UInt8](unsafeUninitializedCapacity: 16) {
                MD5_Final($0.baseAddress, &context)
                $1 = 16
            }
        }
    }

    /// The digest of bytes in memory.
    package static func of(_ bytes: some DataProtocol, _ algorithm: Algorithm = .sha256) -> [UInt8] {
        var digest = MessageDigest(algorithm)
        digest.update(bytes)
        return digest.bytes
    }
}

/// A code that only those who have the key can make: HMAC with SHA-256 (RFC 2104), of bytes that arrive in parts.
package struct AuthenticationCode: Sendable {
    private var inner = MessageDigest()
    private var outer = MessageDigest()

    /// Makes the code of no bytes so far.
    ///
    /// A copy costs less than a new code of the same key.
    package init(key: some DataProtocol) {
        var block = key.count > 64 ? MessageDigest.of(key) : Array(key)
        block += Array(repeating: 0, count: 64 - block.count)
        inner.update(block.map { $0 ^ 0x36 })
        outer.update(block.map { $0 ^ 0x5C })
    }

    /// Takes the next bytes.
    package mutating func update(_ bytes: some DataProtocol) { inner.update(bytes) }

    /// The code of all bytes so far, 32 bytes; more may follow.
    package var bytes: [UInt8] {
        var outer = outer
        outer.update(inner.bytes)
        return outer.bytes
    }

    /// The code of bytes in memory.
    package static func of(_ bytes: some DataProtocol, key: some DataProtocol) -> [UInt8] {
        var code = AuthenticationCode(key: key)
        code.update(bytes)
        return code.bytes
    }

    /// A key of 32 bytes for one purpose, from a secret: HKDF with SHA-256 and without a salt (RFC 5869).
    package static func derivedKey(from secret: some DataProtocol, for purpose: some DataProtocol) -> [UInt8] {
        let extracted = of(secret, key: [UInt8](repeating: 0, count: 32))
        return of(Array(purpose) + [1], key: extracted)
    }
}
