import Foundation
import HTTPTypes
import Testing
import WaystationHTTP

@testable import WaystationStorage

@Suite("ByteCount")
struct ByteCountTests {
    @Test(
        "has decimal and binary units, and clamps instead of trapping",
        arguments: [
            (ByteCount.bytes(7), 7), (.kibibytes(2), 2_048), (.mebibytes(1), 1_048_576), (.gibibytes(1), 1_073_741_824),
            (.kilobytes(2), 2_000), (.megabytes(3), 3_000_000), (.gigabytes(1), 1_000_000_000),
            (.bytes(-1), 0), (.gibibytes(.max), .max),
        ]
    )
    func units(count: ByteCount, bytes: Int) {
        #expect(count.bytes == bytes)
    }
}

@Suite("XXH64")
struct ChecksumTests {
    /// The sanity buffer and results of the reference implementation (xxHash, cli/xsum_sanity_check.c).
    @Test(
        "is XXH64",
        arguments: [
            (0, 0, 0xEF46_DB37_51D8_E999), (1, 0, 0xE934_A84A_DB05_2768), (4, 0, 0x9136_A0DC_A574_57EE),
            (14, 0, 0x8282_DCC4_994E_35C8), (222, 0, 0xB641_AE8C_B691_C174),
            (0, 2_654_435_761, 0xAC75_FDA2_929B_17EF), (222, 2_654_435_761, 0x20CB_8AB7_AE10_C14A),
        ] as [(Int, UInt64, UInt64)]
    )
    func vectors(length: Int, seed: UInt64, expected: UInt64) {
        var bytes: [UInt8] = []
        var generator: UInt64 = 2_654_435_761
        for _ in 0..<length {
            bytes.append(UInt8(generator >> 56))
            generator &*= 11_400_714_785_074_694_797
        }
        #expect(bytes.withUnsafeBytes { XXH64.of($0, seed: seed) } == expected)
    }
}

@Suite("The key of a variant")
struct VaryKeyTests {
    private let request: HTTPFields = [.acceptLanguage: "de", .accept: ""]

    @Test("records the values that the request has, and the fields that it lacks")
    func records() {
        let key = VaryKey([.vary: "Accept-Language, Accept-Encoding, Accept"], request: request)
        #expect(key.nominees.map(\.name) == [.accept, .acceptEncoding, .acceptLanguage])
        #expect(key.nominees.map(\.value) == ["", nil, "de"])
    }

    @Test("matches requests with the same fields, including missing ones")
    func matches() {
        let key = VaryKey([.vary: "Accept-Language, Accept-Encoding"], request: request)
        #expect(key.matches([.acceptLanguage: "de"]))
        #expect(!key.matches([.acceptLanguage: "en"]))
        #expect(!key.matches([.acceptLanguage: "de", .acceptEncoding: "gzip"]))
        #expect(VaryKey.none.matches(request))
    }

    @Test("is the same after it was stored", arguments: [nil, "", " a", "a: b", "é"] as [String?])
    func codes(value: String?) {
        let key = VaryKey([.init(name: .accept, value: value), .init(name: .range, value: "x")])
        #expect(key.encoded.withUnsafeBytes { VaryKey(encoded: $0) } == key)
    }
}

@Suite("Field section")
struct FieldSectionTests {
    @Test("keeps order, case, repetition, empty values and bytes that are not UTF-8")
    func roundTrip() throws {
        var fields = HTTPFields()
        let custom = try #require(HTTPField.Name("X-CuStom"))
        fields.append(HTTPField(name: .setCookie, value: "a=1"))
        fields.append(HTTPField(name: custom, value: ""))
        fields.append(HTTPField(name: .setCookie, value: "b=2: \"x\""))
        fields.append(HTTPField(name: .server, value: [0x63, 0xE9] as [UInt8]))
        let decoded = try #require(FieldSection.encode(fields).withUnsafeBytes { FieldSection.decode($0) })
        #expect(decoded.map(\.name.rawName) == ["Set-Cookie", "X-CuStom", "Set-Cookie", "Server"])
        #expect(decoded[values: .setCookie] == ["a=1", "b=2: \"x\""])
        #expect(decoded.last?.withUnsafeBytesOfValue { Array($0) } == [0x63, 0xE9])
    }

    @Test("refuses bytes that are not a field section", arguments: ["no colon\r\n", "bad name: x\r\n", ": x\r\n"])
    func refusal(text: String) {
        #expect(Data(text.utf8).withUnsafeBytes { FieldSection.decode($0) } == nil)
    }
}

@Suite("Dates in the index")
struct IndexDateTests {
    @Test("are exact to the microsecond, and distant ones do not trap")
    func microseconds() {
        let date = Date(timeIntervalSince1970: 1_800_000_000.123_456)
        #expect(Date(microseconds: date.microseconds).microseconds == date.microseconds)
        #expect(Date.distantFuture.microseconds > 0)
        #expect(Date(timeIntervalSince1970: .infinity).microseconds == .max)
        #expect(Date(timeIntervalSince1970: .nan).microseconds == .min)
    }
}
