import Foundation
import Testing
import Waystation
import WaystationTestSupport

@Suite("Reading the body in header fields")
struct HeaderBodyReadingTests {
    private let form = HeaderBody()

    private func text(_ fields: [String: String], _ form: HeaderBody = HeaderBody()) throws -> String? {
        try form.body(in: fields).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "percent-encoding",
        arguments: [
            ("", ""), ("a", "a"), ("%61", "a"), ("a%20b", "a b"), ("a+b", "a+b"), ("%2B", "+"), ("%25", "%"),
            ("%2541", "%41"), ("%c3%a4", "ä"), ("%C3%A4", "ä"), ("%F0%9F%98%80", "😀"), ("%0D%0A", "\r\n"),
            ("%00", "\0"),
            ("%7B%22a%22%3A1%7D", "{\"a\":1}"), ("a=1&b=2", "a=1&b=2"), ("a,b", "a,b"), ("\"", "\""), ("{}", "{}"),
            (" a ", "a"), ("\ta\t", "a"), ("~", "~"), ("a%3Db%26c", "a=b&c"),
        ]
    )
    func percent(value: String, body: String) throws {
        #expect(try text(["x-weimai-h5body": value]) == body)
    }

    @Test("percent-encoding holds any byte")
    func anyByte() throws {
        let bytes = Data((0...255).map { UInt8($0) })
        let value = bytes.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(try form.body(in: ["x-weimai-h5body": value]) == bytes)
    }

    @Test(
        "damaged percent-encoding is an error that names the field and the place",
        arguments: [
            ("%", 0), ("%2", 0), ("a%2", 1), ("%zz", 0), ("ab%z0", 2), ("%0g", 0), ("%%41", 0), ("abc%", 3), ("%-1", 0),
            ("%+1", 0), ("a b", 1), ("a\tb", 1), ("ä", 0), ("ab\u{7F}", 2), ("a\u{1}", 1), ("a\r\nb", 1),
        ]
    )
    func damagedPercent(value: String, offset: Int) {
        let error = #expect(throws: WaystationError.self) { try form.body(in: ["x-weimai-h5body": value]) }
        #expect(error?.code == .invalidHeaderBody)
        #expect(error?.message.contains("x-weimai-h5body ") ?? false)
        #expect(error?.message.contains("offset \(offset)") ?? false)
    }

    @Test(
        "base64 with and without padding, in both alphabets",
        arguments: [
            ("", ""), ("YQ==", "a"), ("YQ", "a"), ("YWI=", "ab"), ("YWI", "ab"), ("YWJj", "abc"), ("YWJjZA==", "abcd"),
            ("Pz8/", "???"), ("Pz8_", "???"), ("fn5-", "~~~"), ("fn5+", "~~~"), (" YQ== ", "a"), ("w6Q=", "ä"),
        ]
    )
    func base64(value: String, body: String) throws {
        #expect(try text(["x-weimai-h5body": value], HeaderBody(encoding: .base64)) == body)
        #expect(try text(["x-weimai-h5body": value, "x-weimai-h5body-encoding": "base64"]) == body)
    }

    @Test(
        "damaged base64 is an error that names the field",
        arguments: [
            "Y", "YQ=", "YQ===", "YWI==", "YWJj=", "YW Jj", "YW,Jj", "YQ==YQ==", "=", "====", "YR", "YWK", "Y%51", "ä",
            "YW.j",
        ]
    )
    func damagedBase64(value: String) {
        let error = #expect(throws: WaystationError.self) {
            try HeaderBody(encoding: .base64).body(in: ["x-weimai-h5body": value])
        }
        #expect(error?.code == .invalidHeaderBody)
        #expect(error?.message.contains("x-weimai-h5body ") ?? false)
    }

    @Test("a field names one request's encoding, in any letter case", arguments: ["percent", "Percent", " BASE64 "])
    func toldEncoding(value: String) throws {
        let fields = ["x-weimai-h5body": "YWJj", "X-Weimai-H5body-Encoding": value]
        #expect(try text(fields, HeaderBody(encoding: .base64)) == (value == " BASE64 " ? "abc" : "YWJj"))
    }

    @Test(
        "an unknown encoding, or an encoding without a body, is an error",
        arguments: ["", "gzip", "utf-8", "base64,base64"]
    )
    func unknownEncoding(value: String) {
        let error = #expect(throws: WaystationError.self) {
            try form.body(in: ["x-weimai-h5body": "a", "x-weimai-h5body-encoding": value])
        }
        #expect(error?.message.contains("x-weimai-h5body-encoding") ?? false)
        #expect(throws: WaystationError.self) { try form.body(in: ["x-weimai-h5body-encoding": "percent"]) }
    }

    @Test("parts are joined in the order of their numbers, not of their names")
    func parts() throws {
        #expect(try text(["x-weimai-h5body-1": "a", "x-weimai-h5body-2": "b"]) == "ab")
        let twelve = Dictionary(uniqueKeysWithValues: (1...12).map { ("x-weimai-h5body-\($0)", "\($0).") })
        #expect(try text(twelve) == "1.2.3.4.5.6.7.8.9.10.11.12.")
        #expect(try text(["x-weimai-h5body-1": "%C", "x-weimai-h5body-2": "3%", "x-weimai-h5body-3": "A4"]) == "ä")
        #expect(
            try text(
                ["x-weimai-h5body-1": "Y", "x-weimai-h5body-2": "Q=", "x-weimai-h5body-3": "="],
                HeaderBody(encoding: .base64)
            ) == "a"
        )
        #expect(try text(["x-weimai-h5body-1": ""]) == "")
    }

    @Test(
        "gaps, wrong numbers and parts beside a whole body are errors that name the field",
        arguments: [
            (["x-weimai-h5body-2": "b"], "x-weimai-h5body-1"),
            (["x-weimai-h5body-1": "a", "x-weimai-h5body-3": "c"], "x-weimai-h5body-2"),
            (["x-weimai-h5body-0": "a"], "x-weimai-h5body-0"),
            (["x-weimai-h5body-01": "a"], "x-weimai-h5body-01"),
            (["x-weimai-h5body-99999999999999999999": "a"], "x-weimai-h5body-99999999999999999999"),
            (["x-weimai-h5body": "a", "x-weimai-h5body-1": "b"], "x-weimai-h5body"),
        ]
    )
    func wrongParts(fields: [String: String], name: String) {
        let error = #expect(throws: WaystationError.self) { try form.body(in: fields) }
        #expect(error?.code == .invalidHeaderBody)
        #expect(error?.message.contains(name) ?? false)
    }

    @Test("the error for a damaged escape names the part where the escape begins")
    func cutEscape() {
        let error = #expect(throws: WaystationError.self) {
            try form.body(in: ["x-weimai-h5body-1": "ab%2", "x-weimai-h5body-2": "x"])
        }
        #expect(error?.message.contains("x-weimai-h5body-1 has a % at offset 2") ?? false)
    }

    @Test("field names compare without regard to case, and a repeated field is an error")
    func names() throws {
        #expect(try text(["X-WEIMAI-H5BODY": "a"]) == "a")
        #expect(try text(["X-Page-Body": "a"], HeaderBody(name: "x-page-body")) == "a")
        #expect(throws: WaystationError.self) { try form.body(in: ["x-weimai-h5body": "a", "X-Weimai-H5body": "a"]) }
        #expect(throws: WaystationError.self) {
            try form.body(in: ["x-weimai-h5body-1": "a", "X-Weimai-H5body-1": "a"])
        }
    }

    @Test(
        "fields with similar names are left alone",
        arguments: [
            "x-weimai-h5bod", "x-weimai-h5body-", "x-weimai-h5body-x", "x-weimai-h5body1", "x-weimai-h5body-1-2",
        ]
    )
    func others(name: String) throws {
        #expect(try form.body(in: [name: "a"]) == nil)
        #expect(!form.owns(name))
    }

    @Test("the limit counts decoded bytes: a body at the limit is accepted, a longer one is not", arguments: 0...5)
    func limit(count: Int) throws {
        let percent = HeaderBody(limit: .bytes(count))
        let base64 = HeaderBody(encoding: .base64, limit: .bytes(count))
        for form in [percent, base64] {
            let most = Data(repeating: 0xFF, count: count)
            #expect(try form.body(in: form.fields(for: most)) == most)
            let error = #expect(throws: WaystationError.self) {
                try form.body(in: form.fields(for: most + [0xFF]))
            }
            #expect(error?.code == .headerBodyTooLarge)
            #expect(error?.message.contains("x-weimai-h5body") ?? false)
        }
    }

    @Test(
        "written fields read back as the same body, in either encoding and in parts of any length",
        arguments: [0, 1, 2, 3, 4, 5, 100, 8_000]
    )
    func roundTrips(fieldLength: Int) throws {
        var random = SeededGenerator(seed: 7)
        for count in [0, 1, 2, 3, 4, 5, 63, 64, 65, 1_000, 20_000] where count < 2_000 || fieldLength > 99 {
            let body = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
            for encoding in [HeaderBody.Encoding.percent, .base64] {
                let fields = form.fields(for: body, encoding: encoding, fieldLength: fieldLength)
                #expect(try form.body(in: fields) == body)
                #expect(fields.values.allSatisfy { $0.utf8.count <= max(7, fieldLength) })
            }
        }
    }

    @Test("a short body in the default encoding is written as one field")
    func written() {
        #expect(form.fields(for: Data("a b".utf8)) == ["x-weimai-h5body": "a%20b"])
        #expect(form.fields(for: Data()) == ["x-weimai-h5body": ""])
        #expect(
            form.fields(for: Data("abcd".utf8), encoding: .base64, fieldLength: 4) == [
                "x-weimai-h5body-encoding": "base64", "x-weimai-h5body-1": "YWJj", "x-weimai-h5body-2": "ZA==",
            ]
        )
    }
}
