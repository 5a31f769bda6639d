import Foundation
import Testing
import WaystationHTTP

@testable import WaystationPacks

@Suite struct SignedEnvelopeTests {
    private let type = "text/plain"
    private let payload = Data("hello world".utf8)
    private let keys: [SigningKey]

    init() throws { keys = try (0..<3).map { _ in try SigningKey.generate() } }

    @Test("The pre-authentication encoding equals the DSSE specification's example")
    func encoding() {
        let message = SignedEnvelope.preAuthenticationEncoding(type: "http://example.com/HelloWorld", payload: payload)
        #expect(String(decoding: message, as: UTF8.self) == "DSSEv1 29 http://example.com/HelloWorld 11 hello world")
        // Lengths count bytes.
        #expect(SignedEnvelope.preAuthenticationEncoding(type: "ä", payload: Data()) == Data("DSSEv1 2 ä 0 ".utf8))
    }

    @Test("A payload that a trusted key signed is returned, also after a round trip through JSON")
    func opening() throws {
        let json = try JSONEncoder().encode(SignedEnvelope(payload, type: type, signedBy: [keys[0]]))
        let envelope = try JSONDecoder().decode(SignedEnvelope.self, from: json)
        #expect(try envelope.payload(ofType: type, signedBy: keys.map(\.trusted)) == payload)
        let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        #expect(object.keys.sorted() == ["payload", "payloadType", "signatures"])
        let signature = (object["signatures"] as? [[String: String]])?.first
        #expect(signature?["keyid"] == keys[0].trusted.id)
    }

    @Test("Without a trusted signature the payload is not returned")
    func untrusted() async throws {
        let envelope = try SignedEnvelope(payload, type: type, signedBy: [keys[0]])
        #expect(await errorCode { try envelope.payload(ofType: type, signedBy: [keys[1].trusted]) } == .untrusted)
        #expect(await errorCode { try envelope.payload(ofType: type, signedBy: []) } == .untrusted)
        let unsigned = try SignedEnvelope(payload, type: type, signedBy: [])
        #expect(await errorCode { try unsigned.payload(ofType: type, signedBy: [keys[0].trusted]) } == .untrusted)
    }

    @Test("An error shows key ids and types that others wrote escaped and cut, and keeps its advice")
    func hostileNames() throws {
        let hostile = "\u{1B}[2J\nforged line" + String(repeating: "a", count: 7 << 20)
        var envelope = try SignedEnvelope(payload, type: type, signedBy: [keys[0]])
        envelope.signatures = Array(repeating: .init(keyid: hostile, sig: ""), count: 64)
        let untrusted = #expect(throws: PackError.self) {
            try envelope.payload(ofType: type, signedBy: [keys[1].trusted])
        }
        envelope.payloadType = hostile
        let wrong = #expect(throws: PackError.self) { try envelope.payload(ofType: type, signedBy: []) }
        for error in [untrusted, wrong] {
            let text = try #require(error?.description)
            #expect(text.contains("\\u{1B}[2J\\nforged line"))
            #expect(text.unicodeScalars.allSatisfy { !$0.isHidden })
            #expect(text.count < 1_000)
        }
        #expect(untrusted?.message.hasSuffix("or trust the key that signed it") == true)
        #expect(wrong?.message.hasSuffix("but \"text/plain\" is expected") == true)
    }

    @Test("A signature is not valid for another payload or another type")
    func forgery() async throws {
        let trusted = [keys[0].trusted]
        var envelope = try SignedEnvelope(payload, type: type, signedBy: [keys[0]])
        envelope.payload = Data("hello World".utf8).base64EncodedString()
        #expect(await errorCode { try envelope.payload(ofType: type, signedBy: trusted) } == .untrusted)
        envelope = try SignedEnvelope(payload, type: type, signedBy: [keys[0]])
        envelope.payloadType = "text/html"
        #expect(await errorCode { try envelope.payload(ofType: "text/html", signedBy: trusted) } == .untrusted)
        #expect(await errorCode { try envelope.payload(ofType: type, signedBy: trusted) } == .badAnswer)
    }

    @Test("The key id is a hint that decides nothing")
    func keyID() async throws {
        var envelope = try SignedEnvelope(payload, type: type, signedBy: [keys[0]])
        envelope.signatures[0].keyid = keys[1].trusted.id
        #expect(try envelope.payload(ofType: type, signedBy: [keys[0].trusted]) == payload)
        #expect(await errorCode { try envelope.payload(ofType: type, signedBy: [keys[1].trusted]) } == .untrusted)
        envelope.signatures[0].keyid = nil
        #expect(try envelope.payload(ofType: type, signedBy: [keys[0].trusted]) == payload)
    }

    @Test("A threshold counts different keys, not signatures")
    func threshold() async throws {
        let trusted = keys.map(\.trusted)
        let two = try SignedEnvelope(payload, type: type, signedBy: [keys[0], keys[2]])
        #expect(try two.payload(ofType: type, signedBy: trusted, threshold: 2) == payload)
        #expect(await errorCode { try two.payload(ofType: type, signedBy: trusted, threshold: 3) } == .untrusted)
        let twice = try SignedEnvelope(payload, type: type, signedBy: [keys[0], keys[0]])
        #expect(await errorCode { try twice.payload(ofType: type, signedBy: trusted, threshold: 2) } == .untrusted)
        // The check cannot be turned off.
        let unsigned = try SignedEnvelope(payload, type: type, signedBy: [])
        #expect(await errorCode { try unsigned.payload(ofType: type, signedBy: trusted, threshold: 0) } == .untrusted)
    }

    @Test("Both alphabets of base64 are read, with and without padding")
    func base64() throws {
        let bytes = Data([0xFB, 0xFF, 0xFE, 0x3F])
        var envelope = try SignedEnvelope(bytes, type: type, signedBy: [keys[0]])
        #expect(envelope.payload == "+//+Pw==")
        envelope.payload = "-__-Pw"
        envelope.signatures[0].sig = envelope.signatures[0].sig.replacing("+", with: "-").replacing("/", with: "_")
        #expect(try envelope.payload(ofType: type, signedBy: [keys[0].trusted]) == bytes)
    }

    @Test("Broken envelopes cause errors, and broken signatures do not count")
    func broken() async throws {
        let trusted = [keys[0].trusted]
        var envelope = try SignedEnvelope(payload, type: type, signedBy: [keys[0]])
        envelope.signatures.insert(contentsOf: ["", "!", "AAAA"].map { .init(keyid: nil, sig: $0) }, at: 0)
        #expect(try envelope.payload(ofType: type, signedBy: trusted) == payload)
        envelope.signatures += Array(repeating: .init(keyid: nil, sig: ""), count: 64)
        #expect(await errorCode { try envelope.payload(ofType: type, signedBy: trusted) } == .badAnswer)
        envelope.payload = "!"
        #expect(await errorCode { try envelope.payload(ofType: type, signedBy: trusted) } == .badAnswer)
    }
}
