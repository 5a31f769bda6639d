import Foundation
import Testing

@testable import WaystationPacks

@Suite struct KeyTests {
    private static func bytes(_ hex: String) -> Data {
        let digits = Array(hex)
        return Data(
            stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
        )
    }

    // RFC 8032 §7.1, tests 1 and 2.
    @Test(
        "The vectors of RFC 8032 hold",
        arguments: [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                    + "d25bf5f0595bbe24655141438e7a100b"
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
                    + "387b2eaeb4302aeeb00d291612bb0c00"
            ),
        ]
    )
    func vectors(secret: String, known: String, message: String, signature: String) throws {
        let key = try #require(SigningKey("ed25519-private:\(Self.bytes(secret).base64EncodedString())"))
        #expect(key.trusted.rawRepresentation == Self.bytes(known))
        #expect(key.trusted.isValid(Self.bytes(signature), for: Self.bytes(message)))
        #expect(!key.trusted.isValid(Self.bytes(signature), for: Data("other".utf8)))
        #expect(key.trusted.isValid(try key.signature(for: Self.bytes(message)), for: Self.bytes(message)))
    }

    @Test("A key survives its text form, and its id follows from the key")
    func text() throws {
        let key = try SigningKey.generate()
        let copy = try #require(SigningKey(key.secretText + "\n"))
        #expect(copy.trusted == key.trusted)
        let trusted = try #require(TrustedKey(key.trusted.description))
        #expect(trusted == key.trusted && trusted.id == key.trusted.id)
        #expect(trusted.id.count == 16)
        #expect(try SigningKey.generate().trusted.id != key.trusted.id)
        #expect(try JSONDecoder().decode([TrustedKey].self, from: JSONEncoder().encode([trusted])) == [trusted])
    }

    @Test(
        "A text that is not a key is refused",
        arguments: [
            "", "ed25519:", "ed25519:AAAA", "ed25519:!!", "rsa:AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ]
    )
    func refusal(text: String) {
        #expect(TrustedKey(text) == nil)
        #expect(SigningKey(text) == nil)
    }

    @Test("A private key is not accepted as a public one, nor printed")
    func secrecy() throws {
        let key = try SigningKey.generate()
        #expect(TrustedKey(key.secretText) == nil)
        #expect(SigningKey(key.trusted.description) == nil)
        let secret = key.secretText.dropFirst("ed25519-private:".count)
        #expect(!"\(key)".contains(secret) && !String(reflecting: key).contains(secret))
    }
}
