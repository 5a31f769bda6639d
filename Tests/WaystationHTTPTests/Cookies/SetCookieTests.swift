import Foundation
import Testing

@testable import WaystationHTTP

@Suite("Set-Cookie (RFC 6265 §5.2, RFC 6265bis §5.6)")
struct SetCookieTests {
    private func refusal(of field: String) -> CookieError? {
        do throws(CookieError) {
            _ = try SetCookie(field)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Max-Age counts seconds, and a value that is not a number is ignored",
        arguments: [
            ("60", 60), ("0", 0), ("-1", -1), ("007", 7), ("99999999999999999999", Int64.max),
            ("-99999999999999999999", -Int64.max), ("", nil), ("-", nil), ("+5", nil), ("5.5", nil), ("5 s", nil),
            ("\"60\"", nil), ("--1", nil), ("0x10", nil), ("٣", nil),
        ] as [(String, Int64?)]
    )
    func maxAge(value: String, seconds: Int64?) throws {
        #expect(try SetCookie("a=1; Max-Age=\(value)").maxAge == seconds)
    }

    @Test("a malformed attribute leaves the earlier one in force")
    func earlierStands() throws {
        let cookie = try SetCookie("a=1; Max-Age=5; Max-Age=x; Expires=Thu, 01 Jan 1970 00:00:09 GMT; Expires=never")
        #expect(cookie.maxAge == 5)
        #expect(cookie.expires == Date(timeIntervalSince1970: 9))
    }

    @Test("a control character makes the whole field invalid, except for a tab", arguments: 0...31)
    func controls(code: UInt8) {
        let character = String(decoding: [code], as: UTF8.self)
        for field in ["a=1\(character)2", "a\(character)b=1", "a=1; Path=/\(character)"] {
            #expect(refusal(of: field)?.code == (code == 9 ? nil : .character))
        }
    }

    @Test("DEL is a control character too")
    func delete() {
        #expect(throws: CookieError.self) { try SetCookie("a=1\u{7F}") }
    }

    @Test(
        "name and value may have 4,096 octets together",
        arguments: [
            (1, 4_095, true), (1, 4_096, false), (4_096, 0, true), (4_097, 0, false), (2_048, 2_048, true),
            (2_048, 2_049, false),
        ]
    )
    func limits(name: Int, value: Int, isTaken: Bool) {
        let field = String(repeating: "n", count: name) + "=" + String(repeating: "v", count: value)
        #expect(refusal(of: field)?.code == (isTaken ? nil : .length))
    }

    @Test("limits count octets, not characters")
    func octets() {
        #expect(throws: CookieError.self) { try SetCookie("a=" + String(repeating: "é", count: 2_048)) }
    }

    @Test("an attribute of more than 1,024 octets is ignored, and the cookie is stored")
    func longAttribute() throws {
        let fits = "/" + String(repeating: "p", count: 1_023)
        #expect(try SetCookie("a=1; Path=\(fits)").path == fits)
        #expect(try SetCookie("a=1; Path=/x; Path=\(fits)p; Secure").path == "/x")
        #expect(try SetCookie("a=1; Domain=\(String(repeating: "d", count: 1_025))").domain == nil)
    }

    @Test(
        "a text without a name is a cookie only if the rules allow it (RFC 6265bis)",
        arguments: [
            ("word", "word"), ("=v", "v"), ("  v ", "v"), ("", nil), ("=", nil), (" ; Path=/", nil),
            ("= ; Secure", nil),
        ] as [(String, String?)]
    )
    func nameless(field: String, value: String?) {
        #expect(throws: CookieError.self) { try SetCookie(field) }
        #expect((try? SetCookie(field, acceptsNameless: true))?.value == value)
        var jar = CookieJar(rules: CookieRules(acceptsNamelessCookies: true))
        jar.store(field, from: url("https://e.org/"), now: epoch)
        #expect(jar.header(for: url("https://e.org/"), now: epoch) == value)
    }

    @Test(
        "a cookie without a name cannot imitate one with a prefix",
        arguments: ["__Host-a", "=__Secure-a=1", "__HOST-a=1"]
    )
    func namelessPrefix(field: String) {
        var jar = CookieJar(rules: CookieRules(acceptsNamelessCookies: true))
        #expect(jar.store(field, from: url("https://e.org/"), now: epoch).refusal?.code == .prefix)
    }

    @Test(
        "unknown and empty attributes are ignored",
        arguments: [
            "a=1;;;;", "a=1; =; ==; ;", "a=1; =x; unknown; un=known=2", "a=1 ;Path", "a=1;Expires;Max-Age;Domain",
        ]
    )
    func noise(field: String) throws {
        #expect(try SetCookie(field) == SetCookie("a=1"))
    }

    @Test("a letter with a combining mark after a separator is parsed by octets")
    func combining() throws {
        #expect(try SetCookie("a=1;\u{301}Secure").isSecure == false)
        #expect(try SetCookie("a=\u{301}1; Secure").value == "\u{301}1")
        #expect(try SetCookie("a=1\r".replacingOccurrences(of: "\r", with: "\u{301};\u{301}=2")).name == "a")
    }

    @Test(
        "days and times that do not exist give no date",
        arguments: [
            "31 Apr 2024 00:00:00", "30 Feb 2024 00:00:00", "29 Feb 2023 00:00:00", "29 Feb 1900 00:00:00",
            "0 Jan 2024 00:00:00", "32 Jan 2024 00:00:00", "1 Jan 1600 00:00:00", "1 Jan 2024 24:00:00",
            "1 Jan 2024 00:60:00", "1 Jan 2024 00:00:60", "1 Jan 2024", "00:00:00", "1 2024 00:00:00", "",
            "1 Jan 2024 000:00:00", "1 Jan 2024 00:00:000", "1 Jan 2024 00:00", "1 Jan 99999 00:00:00",
        ]
    )
    func noDate(text: String) {
        #expect(CookieDate.parse(text[...].utf8) == nil)
    }

    @Test(
        "the date search agrees with the calendar",
        arguments: [
            ("29 Feb 2024 23:59:59", 1_709_251_199), ("29 Feb 2000 00:00:00", 951_782_400),
            ("1 Jan 1601 00:00:00", -11_644_473_600), ("31 Dec 9999 23:59:59", 253_402_300_799),
            ("1 Jan 69 0:0:0", 3_124_224_000), ("1 Jan 70 0:0:0", 0), ("31 Dec 1969 23:59:59", -1),
            ("1 march 2023 1:2:3x", 1_677_632_523), ("1st DECEMBER 99z 01:02:03", 944_010_123),
            ("1 Mar 1900 00:00:00", -2_203_891_200),
        ]
    )
    func calendar(text: String, seconds: Double) {
        #expect(CookieDate.parse(text[...].utf8)?.timeIntervalSince1970 == seconds)
    }
}

@Suite("Set-Cookie fields that Foundation joined")
struct JoinedSetCookieTests {
    @Test(
        "are split into single fields",
        arguments: [
            ("a=1", ["a=1"]),
            ("a=1, b=2", ["a=1", "b=2"]),
            ("a=1,b=2,c=3", ["a=1", "b=2", "c=3"]),
            ("a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT, b=2", ["a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT", "b=2"]),
            (
                "a=1; Expires=Wed, 09-Jun-27 10:18:14 GMT; Path=/, b=2; expires=Thu, 10 Jun 2027 10:18:14 GMT; Secure",
                [
                    "a=1; Expires=Wed, 09-Jun-27 10:18:14 GMT; Path=/",
                    "b=2; expires=Thu, 10 Jun 2027 10:18:14 GMT; Secure",
                ]
            ),
            ("a=x, y", ["a=x, y"]),
            ("a=x, y; Path=/, b=2", ["a=x, y; Path=/", "b=2"]),
            ("a=x, two words=2", ["a=x, two words=2"]),
            ("a=\"x, y=z\", b=2", ["a=\"x, y=z\"", "b=2"]),
            ("a=\"x, y=z\"; Path=/,b=2", ["a=\"x, y=z\"; Path=/", "b=2"]),
            ("a=\"x, b=2", ["a=\"x", "b=2"]),
            ("a=\"x; Path=/, b=\"y\"", ["a=\"x; Path=/", "b=\"y\""]),
            ("a=\"x, b=\"y", ["a=\"x", "b=\"y"]),
            ("a=1, , b=2", ["a=1,", "b=2"]),
            ("", []), (",", [","]), (" , ", [","]), ("a=1,", ["a=1,"]),
            ("a=1, =2", ["a=1, =2"]),
            ("a==, b==", ["a==", "b=="]),
            ("a=1; Path=/,x, b=2", ["a=1; Path=/,x", "b=2"]),
            ("a=1; Max-Age=5, b=2; Max-Age=6", ["a=1; Max-Age=5", "b=2; Max-Age=6"]),
            ("a=1, \"b\"=2", ["a=1, \"b\"=2"]),
            ("é=1, ü=2", ["é=1", "ü=2"]),
        ] as [(String, [String])]
    )
    func split(joined: String, fields: [String]) {
        #expect(SetCookie.split(joined: joined) == fields)
    }

    @Test("lose nothing when they are split", arguments: 0..<200)
    func roundTrip(seed: Int) {
        let names = ["a", "sid", "__Host-x", "k-1", "t.u"]
        let values = ["1", "", "abc==", "x y", "\"q, r=s\"", "100%"]
        let attributes = [
            "", "; Path=/a", "; Expires=Wed, 09 Jun 2027 10:18:14 GMT", "; Secure; HttpOnly", "; Max-Age=9",
        ]
        let fields = (0...(seed % 4)).map { index in
            let pick = seed / 4 + index
            return names[pick % 5] + "=" + values[pick % 6] + attributes[(pick / 5) % 5]
        }
        #expect(SetCookie.split(joined: fields.joined(separator: ", ")) == fields)
        #expect(SetCookie.split(joined: fields.joined(separator: ",")) == fields)
    }

    @Test("are stored in their order, and a bad one does not affect the others")
    func stored() {
        var jar = CookieJar()
        let outcomes = jar.store(
            joined: "a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT, b=2; Domain=other.org, c=3; Path=/",
            from: url("https://e.org/"),
            now: epoch
        )
        #expect(outcomes.map(\.refusal?.code) == [nil, .domain, nil])
        #expect(jar.header(for: url("https://e.org/"), now: epoch) == "a=1; c=3")
    }
}
