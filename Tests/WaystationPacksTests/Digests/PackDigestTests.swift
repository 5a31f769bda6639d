import Foundation
import Testing
import WaystationPacks
import WaystationStorage
import WaystationTestSupport

@Suite struct PackDigestTests {
    // FIPS 180-4 and RFC 1321, appendix A.5, for "abc".
    private static let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    private static let md5 = "900150983cd24fb0d6963f7d28e17f72"

    @Test("The digests of \"abc\" are those of the standards")
    func vectors() {
        #expect(PackDigest(of: Data("abc".utf8)).description == "sha256-\(Self.sha256)")
        #expect(PackDigest(of: Data("abc".utf8), .md5).description == "md5-\(Self.md5)")
    }

    @Test(
        "A digest is read with its algorithm's name, or without it as old servers write it, in upper or lower case",
        arguments: [
            ("sha256-\(sha256)", "sha256-\(sha256)"), (sha256, "sha256-\(sha256)"),
            ("sha256-\(sha256.uppercased())", "sha256-\(sha256)"), ("md5-\(md5)", "md5-\(md5)"), (md5, "md5-\(md5)"),
            (md5.uppercased(), "md5-\(md5)"),
        ]
    )
    func reading(text: String, expected: String) {
        #expect(PackDigest(text)?.description == expected)
    }

    @Test(
        "A text that is not a digest is refused",
        arguments: [
            "", "sha256-", "sha256-\(md5)", "md5-\(sha256)", "sha512-\(sha256)", "SHA256-\(sha256)", "\(sha256)0",
            String(sha256.dropLast()), "-\(md5)", "g" + md5.dropFirst(), "sha256:\(sha256)", " \(md5)",
            "sha256-\(sha256) ",
            String(repeating: "ä", count: 16),
        ]
    )
    func refusal(text: String) {
        #expect(PackDigest(text) == nil)
    }

    @Test("Parts give the same digest as the whole, in every division", arguments: PackDigest.Algorithm.allCases)
    func streaming(algorithm: PackDigest.Algorithm) {
        let bytes = Data.random(10_000, seed: 1)
        var generator = SeededGenerator(seed: 2)
        var digester = Digester(algorithm)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...700, using: &generator)
            digester.update(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        #expect(digester.digest == PackDigest(of: bytes, algorithm))
    }

    @Test("Reading the digest does not finish it: more bytes can follow")
    func intermediateDigest() {
        var digester = Digester()
        digester.update(Data("a".utf8))
        #expect(digester.digest == PackDigest(of: Data("a".utf8)))
        digester.update(Data("bc".utf8))
        #expect(digester.digest.hex == Self.sha256)
    }

    @Test("A file and a source of several parts have the digest of their bytes")
    func sources() throws {
        let directory = try TemporaryDirectory()
        let bytes = Data.random((1 << 20) + 17, seed: 3)
        let file = directory.url.appending(path: "file")
        try bytes.write(to: file)
        #expect(try PackDigest(ofFile: file) == PackDigest(of: bytes))
        #expect(try PackDigest(of: DataSource(bytes), .md5) == PackDigest(of: bytes, .md5))
    }

    private struct ShortSource: ByteSource {
        let length = 100

        func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int { offset < 40 ? 40 - offset : 0 }
    }

    @Test("A source that ends before its length has no digest")
    func shortSource() async {
        #expect(await errorCode { try PackDigest(of: ShortSource()) } == .damaged)
    }

    @Test("A digest is its text in JSON, and a malformed one causes an error")
    func coding() throws {
        let json = Data(#"["md5-\#(Self.md5)"]"#.utf8)
        let digests = try JSONDecoder().decode([PackDigest].self, from: json)
        #expect(try JSONEncoder().encode(digests) == json)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([PackDigest].self, from: Data(#"["x"]"#.utf8)) }
    }
}
