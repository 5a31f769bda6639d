import Foundation
import Testing
import WaystationHTTP
import WaystationProcesses
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@Suite("Digests and codes")
struct MessageDigestTests {
    private func bytes(_ count: Int, _ generator: inout SeededGenerator) -> Data {
        Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// The lines that a program in Python prints, which reads a file of lines in Base64.
    private func python(_ program: String, _ inputs: [Data]) throws -> [String] {
        let directory = try TemporaryDirectory()
        let file = try directory.write(inputs.map { $0.base64EncodedString() + "\n" }.joined(), to: "inputs")
        let imports = "import base64, hashlib, hmac, sys\nlines = [base64.b64decode(l) for l in open(sys.argv[1])]\n"
        let outcome = try SpawnedProcess.run("/usr/bin/python3", ["-c", imports + program, file.path], limit: 600)
        try #require(outcome.ending == .exited(0), "\(String(decoding: outcome.errors, as: UTF8.self))")
        return String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("are Python's for bytes of 2,000 random lengths, in random parts, and at every length around a block")
    func digests() throws {
        var generator = SeededGenerator(seed: 1)
        var (inputs, made): ([Data], [String]) = ([], [])
        for number in 0..<2_000 {
            let all = bytes(number < 200 ? number : .random(in: 0...20_000, using: &generator), &generator)
            var digests = [MessageDigest(.sha256), MessageDigest(.sha1), MessageDigest(.md5)]
            var rest = all
            while !rest.isEmpty {
                let part = rest.prefix(.random(in: 1...rest.count, using: &generator))
                for index in digests.indices { digests[index].update(part) }
                rest = rest.dropFirst(part.count)
            }
            inputs.append(all)
            let first = digests[0].bytes
            // More may follow a digest.
            digests[0].update(Data([1]))
            made.append(([first] + digests.map(\.bytes)).map(\.hexadecimal).joined(separator: " "))
        }
        let program = """
            for l in lines:
                parts = [hashlib.sha256(l), hashlib.sha256(l + b'\\1'), hashlib.sha1(l), hashlib.md5(l)]
                print(*[p.hexdigest() for p in parts])
            """
        #expect(try python(program, inputs) == made)
    }

    @Test("are Python's for codes and derived keys, with keys of every length up to 200 bytes")
    func codes() throws {
        var generator = SeededGenerator(seed: 2)
        var (inputs, made): ([Data], [String]) = ([], [])
        for length in 0...200 {
            let (key, text) = (bytes(length, &generator), bytes(length * 3, &generator))
            inputs += [key, text]
            let derived = AuthenticationCode.derivedKey(from: key, for: text)
            made.append("\(AuthenticationCode.of(text, key: key).hexadecimal) \(derived.hexadecimal)")
        }
        // HKDF by its definition (RFC 5869), for a key of one block.
        let program = """
            code = lambda key, text: hmac.new(key, text, 'sha256')
            for key, text in zip(lines[::2], lines[1::2]):
                print(code(key, text).hexdigest(), code(code(bytes(32), key).digest(), text + b'\\1').hexdigest())
            """
        #expect(try python(program, inputs) == made)
        // RFC 5869, appendix A.3, which the definition above must give as well.
        #expect(
            AuthenticationCode.derivedKey(from: [UInt8](repeating: 0x0B, count: 22), for: [UInt8]()).hexadecimal
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
        )
    }
}

@Suite("Sealed values")
struct SealingTests {
    @Test("are those of AES-256-GCM, with the nonce first and the tag last")
    func vector() throws {
        // Test case 16 of "The Galois/Counter Mode of Operation" by McGrew and Viega.
        let key = "feffe9928665731c6d6a8f9467308308"
        let sealed = """
            cafebabefacedbaddecaf888\
            522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
            8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662\
            76fc6ece0f4e1768cddf8853bb2d551b
            """
        let opened = Sealing.open(
            Data(digits: sealed),
            key: Array(Data(digits: key + key)),
            context: Data(digits: "feedfacedeadbeeffeedfacedeadbeefabaddad2")
        )
        #expect(
            Array(try #require(opened)).hexadecimal == """
                d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
                """
        )
    }

    @Test(
        "are opened with their key and context only, and if nothing was changed",
        arguments: [0, 1, 15, 16, 17, 100_000]
    )
    func sealing(length: Int) throws {
        let (value, context) = (Data.random(length, seed: 3), Data.random(length % 50, seed: 4))
        let key = Array(Data.random(32, seed: 5))
        let sealed = try #require(Sealing.seal(value, key: key, context: context))
        #expect(sealed.count == value.count + Sealing.overhead)
        #expect(Sealing.open(sealed, key: key, context: context) == value)
        #expect(try #require(Sealing.seal(value, key: key, context: context)) != sealed, "each has a nonce of its own")
        #expect(Sealing.open(sealed, key: key, context: context + [0]) == nil)
        #expect(Sealing.open(sealed, key: key.reversed(), context: context) == nil)
        #expect(Sealing.open(sealed.dropLast(), key: key, context: context) == nil)
        for place in [0, Sealing.overhead / 2, sealed.count - 1] {
            var changed = sealed
            changed[changed.startIndex + place] ^= 1
            #expect(Sealing.open(changed, key: key, context: context) == nil)
        }
    }

    @Test("need a key of 32 bytes, and are at least as long as a nonce and a tag")
    func lengths() {
        let short = Data(count: Sealing.overhead - 1)
        #expect(Sealing.open(short, key: Array(repeating: 0, count: 32), context: Data()) == nil)
        #expect(Sealing.seal(Data([1]), key: [1, 2, 3], context: Data()) == nil)
    }
}

@Suite("Signatures")
struct SignatureTests {
    /// RFC 8032, section 7.1, tests 1 and 3: a private key, its public key, a message and the signature.
    private static let vectors = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            """
            e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595b\
            be24655141438e7a100b
            """
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            """
            6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716e\
            d28dc027beceea1ec40a
            """
        ),
    ]

    @Test("are those of Ed25519", arguments: vectors)
    func vector(key: String, half: String, message: String, signature: String) throws {
        let (key, message) = (Data(digits: key), Data(digits: message))
        #expect(Signatures.publicKey(of: key) == Data(digits: half))
        #expect(Signatures.signature(of: message, by: key) == Data(digits: signature))
        #expect(Signatures.isValid(Data(digits: signature), of: message, by: Data(digits: half)))
    }

    @Test("are valid for their message and key only", arguments: [0, 1, 64, 10_000])
    func validity(length: Int) throws {
        let (message, key) = (Data.random(length, seed: 6), Data.random(Signatures.keyLength, seed: 7))
        let half = try #require(Signatures.publicKey(of: key))
        let signature = try #require(Signatures.signature(of: message, by: key))
        #expect(Signatures.isValid(signature, of: message, by: half))
        #expect(!Signatures.isValid(signature, of: message + [0], by: half))
        #expect(!Signatures.isValid(signature.dropLast(), of: message, by: half))
        #expect(!Signatures.isValid(signature, of: message, by: .random(Signatures.keyLength, seed: 8)))
        #expect(!Signatures.isValid(signature, of: message, by: Data()))
    }

    @Test("need keys of 32 bytes")
    func lengths() {
        #expect(Signatures.publicKey(of: Data(count: 31)) == nil)
        #expect(Signatures.signature(of: Data(), by: Data(count: 33)) == nil)
    }
}

extension Data {
    fileprivate init(digits: String) {
        var rest = Substring(digits)
        self.init()
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            append(byte)
            rest = rest.dropFirst(2)
        }
    }
}
