import Foundation
import Testing
import WaystationStorage

@testable import WaystationPacks

@Suite("Digests of a patch's old and new bytes")
struct PatchDigestTests {
    private static let old = Data("the old bytes".utf8)
    private static let new = Data("the new bytes".utf8)
    // From sha256sum and md5sum.
    private static let oldSHA256 = PatchDigest.sha256(
        hexadecimal("ac2bc7d85130ca143c4b65035e64dfc20fb87c5541d254175670dd395ffc56fc")
    )
    private static let newSHA256 = PatchDigest.sha256(
        hexadecimal("af9ecd498abb17816f2eaa6be201eaaf28467bf747f235799e2350ec0e5caf4c")
    )
    private static let oldMD5 = PatchDigest.md5(hexadecimal("407282282a31431d3b570b7895168906"))
    private static let newMD5 = PatchDigest.md5(hexadecimal("5e2ecabcf505b87cba7a9aff85235a2d"))

    @Test("correct ones are accepted", arguments: [(oldSHA256, newSHA256), (oldMD5, newMD5), (oldSHA256, newMD5)])
    func rightDigestsPass(ofOld: PatchDigest, ofNew: PatchDigest) throws {
        let patch = try patch(from: Self.old, to: Self.new)
        let result = try applied(patch, to: Self.old, expecting: .init(old: ofOld, new: ofNew))
        #expect(result == Self.new)
    }

    @Test("of the old bytes are checked before anything is written", arguments: [newSHA256, oldMD5])
    func wrongOldIsRefused(digest: PatchDigest) throws {
        let patch = try BSDiffPatch(DataSource(patch(from: Self.old, to: Self.new)))
        let other = DataSource(digest == Self.oldMD5 ? Self.new : Self.old)
        let error = #expect(throws: PatchError.self) {
            try patch.apply(to: other, expecting: .init(old: digest)) { _ in Issue.record("written") }
        }
        #expect(error?.code == .wrongOld)
        #expect(error?.message.contains(digest.description) == true)
    }

    @Test("of the new bytes are checked at the end: the format itself would not notice a difference")
    func wrongNewIsRefused() throws {
        let patch = try patch(from: Self.old, to: Self.new)
        let other = Data("another text!".utf8)
        #expect(try applied(patch, to: other) != Self.new)
        let error = #expect(throws: PatchError.self) {
            try applied(patch, to: other, expecting: .init(new: Self.newSHA256))
        }
        #expect(error?.code == .wrongNew)
    }

    @Test("of another length match nothing")
    func shortDigestMatchesNothing() throws {
        let patch = try patch(from: Self.old, to: Self.new)
        let error = #expect(throws: PatchError.self) {
            try applied(patch, to: Self.old, expecting: .init(new: .sha256([1, 2, 3])))
        }
        #expect(error?.code == .wrongNew)
    }

    @Test("of old bytes larger than a buffer cover all of them")
    func largeOld() throws {
        let old = Data(count: 300_000)
        let patch = try RawPatch([(0, 1, 0)], diff: Data(), extra: Data([1]), newSize: 1).encoded()
        let digest = PatchDigest.sha256(hexadecimal("886715e4051e827f4fe215df3053af3f85ad0d352db2c829c7487af6d78efe30"))
        #expect(try applied(patch, to: old, expecting: .init(old: digest)) == Data([1]))
    }

    @Test("are described by algorithm and hexadecimal digits")
    func description() {
        #expect(PatchDigest.md5([0x0A, 0xFF]).description == "md5:0aff")
    }
}

private func hexadecimal(_ digits: String) -> [UInt8] {
    var rest = Substring(digits)
    var bytes: [UInt8] = []
    while let byte = UInt8(rest.prefix(2), radix: 16) {
        bytes.append(byte)
        rest = rest.dropFirst(2)
    }
    return bytes
}
