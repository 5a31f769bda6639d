import Foundation
import HTTPTypes
import Testing
import WaystationHTTP

@Suite("Digests that responses state (RFC 9530)")
struct StatedDigestsTests {
    private static let short = [UInt8](repeating: 1, count: 32)
    private static let long = [UInt8](repeating: 2, count: 64)

    private func fields(_ pairs: KeyValuePairs<String, String>) -> HTTPFields {
        HTTPFields(
            pairs.compactMap { name, value in HTTPField.Name(name).map { HTTPField(name: $0, value: value) } }
        )
    }

    private static func text(_ bytes: [UInt8]) -> String { ":\(Data(bytes).base64EncodedString()):" }

    private func digests(
        _ pairs: KeyValuePairs<String, String>,
        status: Int = 200,
        to method: HTTPRequest.Method = .get
    ) -> [StatedDigests.Digest] {
        StatedDigests(ofContentAfter: fields(pairs), status: status, to: method).digests
    }

    @Test("are read from both fields, of each the strongest one")
    func strongest() {
        let both = "sha-256=\(Self.text(Self.short)), sha-512=\(Self.text(Self.long))"
        #expect(
            digests(["Repr-Digest": both, "Content-Digest": "sha-256=\(Self.text(Self.short))"]) == [
                .init(field: "content-digest", .sha256, Self.short),
                .init(field: "repr-digest", .sha512, Self.long),
            ]
        )
    }

    @Test(
        "are those of the content alone: that of a part is only in Content-Digest, unless the part is the whole",
        arguments: [("bytes 0-9/20", false), ("bytes 0-9/10", true), ("bytes 1-9/10", false), ("bytes 0-9/*", false)]
    )
    func parts(range: String, isWhole: Bool) {
        let digest = "sha-256=\(Self.text(Self.short))"
        let stated = digests(
            ["Repr-Digest": digest, "Content-Digest": digest, "Content-Range": range],
            status: 206
        )
        #expect(stated.map(\.field) == ["content-digest"] + (isWhole ? ["repr-digest"] : []))
    }

    @Test("are ignored if the response has no content", arguments: [204, 304, 103])
    func withoutContent(status: Int) {
        let digest = "sha-256=\(Self.text(Self.short))"
        #expect(digests(["Repr-Digest": digest], status: status).isEmpty)
        #expect(digests(["Repr-Digest": digest], to: .head).isEmpty)
    }

    @Test(
        "are ignored if the field is malformed, or has neither SHA-256 nor SHA-512",
        arguments: [
            "sha-256=:AQ", "sha-256=AQEB", "sha-256=\"AQEB\"", "md5=:AQEB:", "SHA-256=:AQEB:", "sha-256=:A!EB:",
            "sha-256=:A=EB:", "sha-256", "",
        ]
    )
    func malformed(value: String) {
        #expect(digests(["Repr-Digest": value]).isEmpty)
    }

    @Test("may lack the padding of base64, and have parameters and several lines")
    func forms() {
        let unpadded = Self.text(Self.short).replacing("=", with: "")
        #expect(digests(["Repr-Digest": "sha-256=\(unpadded);a=1"]).map(\.value) == [Self.short])
        #expect(
            digests(["Repr-Digest": "md5=:AQEB:", "repr-digest": "sha-256=\(unpadded)"]).map(\.value) == [Self.short]
        )
    }

    @Test("of the representation are read from the fields of a part")
    func representation() {
        let fields = fields(["Repr-Digest": "sha-256=\(Self.text(Self.short))", "Content-Range": "bytes 0-9/20"])
        #expect(StatedDigests(ofRepresentation: fields).digests.map(\.value) == [Self.short])
    }
}
