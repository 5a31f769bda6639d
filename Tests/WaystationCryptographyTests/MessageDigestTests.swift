#if NIO
import Crypto
import Foundation
import Testing
import WaystationCryptography
import WaystationTesting

@Suite("Digests and codes equal those of swift-crypto")
struct MessageDigestTests {
    private func bytes(_ count: Int, _ generator: inout SeededGenerator) -> Data {
        Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    @Test("for bytes of 2,000 random lengths, in random parts, and at every length around a block")
    func digests() {
        var generator = SeededGenerator(seed: 1)
        for number in 0..<2_000 {
            let all = bytes(number < 200 ? number : .random(in: 0...20_000, using: &generator), &generator)
            var digests = [MessageDigest(.sha256), MessageDigest(.sha1), MessageDigest(.md5)]
            var rest = all
            while !rest.isEmpty {
                let part = rest.prefix(.random(in: 1...rest.count, using: &generator))
                for index in digests.indices { digests[index].update(part) }
                rest = rest.dropFirst(part.count)
            }
            #expect(digests[0].bytes == Array(SHA256.hash(data: all)))
            #expect(digests[1].bytes == Array(Insecure.SHA1.hash(data: all)))
            #expect(digests[2].bytes == Array(Insecure.MD5.hash(data: all)))
            // More may follow a digest.
            digests[0].update(Data([1]))
            #expect(digests[0].bytes == Array(SHA256.hash(data: all + [1])))
        }
    }

    @Test("for codes and derived keys, with keys of every length up to 200 bytes")
    func codes() {
        var generator = SeededGenerator(seed: 2)
        for length in 0...200 {
            let (key, text) = (bytes(length, &generator), bytes(length * 3, &generator))
            let known = HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: key))
            #expect(AuthenticationCode.of(text, key: key) == Array(known))
            let derived = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: key),
                info: text,
                outputByteCount: 32
            )
            #expect(AuthenticationCode.derivedKey(from: key, for: text) == derived.withUnsafeBytes { Array($0) })
        }
    }

    @Test("for sealed values: each library opens what the other one sealed, and nothing that was changed")
    func sealing() throws {
        var generator = SeededGenerator(seed: 3)
        for length in [0, 1, 15, 16, 17, 1_000, 100_000] {
            let (value, context) = (bytes(length, &generator), bytes(length % 50, &generator))
            let key = Array(bytes(32, &generator))
            let sealed = try #require(Sealing.seal(value, key: key, context: context))
            #expect(sealed.count == value.count + Sealing.overhead)
            let symmetric = SymmetricKey(data: key)
            let box = try AES.GCM.SealedBox(combined: sealed)
            #expect(try AES.GCM.open(box, using: symmetric, authenticating: context) == value)
            let other = try #require(try AES.GCM.seal(value, using: symmetric, authenticating: context).combined)
            #expect(Sealing.open(other, key: key, context: context) == value)
            #expect(Sealing.open(other, key: key, context: context + [0]) == nil)
            #expect(Sealing.open(other, key: key.reversed(), context: context) == nil)
            #expect(Sealing.open(other.dropLast(), key: key, context: context) == nil)
            for place in [0, Sealing.overhead / 2, other.count - 1] {
                var changed = other
                changed[changed.startIndex + place] ^= 1
                #expect(Sealing.open(changed, key: key, context: context) == nil)
            }
        }
        let short = Data(count: Sealing.overhead - 1)
        #expect(Sealing.open(short, key: Array(repeating: 0, count: 32), context: Data()) == nil)
        #expect(Sealing.seal(Data([1]), key: [1, 2, 3], context: Data()) == nil)
    }

    @Test("for signatures: each library accepts those of the other, and none of another message or key")
    func signatures() throws {
        var generator = SeededGenerator(seed: 4)
        for length in [0, 1, 64, 10_000] {
            let message = bytes(length, &generator)
            let key = bytes(Signatures.keyLength, &generator)
            let known = try Curve25519.Signing.PrivateKey(rawRepresentation: key)
            let half = try #require(Signatures.publicKey(of: key))
            #expect(half == known.publicKey.rawRepresentation)
            let signature = try #require(Signatures.signature(of: message, by: key))
            #expect(known.publicKey.isValidSignature(signature, for: message))
            let other = try known.signature(for: message)
            #expect(Signatures.isValid(other, of: message, by: half))
            #expect(!Signatures.isValid(other, of: message + [0], by: half))
            #expect(!Signatures.isValid(other.dropLast(), of: message, by: half))
            #expect(!Signatures.isValid(other, of: message, by: bytes(Signatures.keyLength, &generator)))
            #expect(!Signatures.isValid(other, of: message, by: Data()))
        }
        #expect(Signatures.publicKey(of: Data(count: 31)) == nil)
        #expect(Signatures.signature(of: Data(), by: Data(count: 33)) == nil)
    }
}
#endif
