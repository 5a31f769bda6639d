import COpenSSL
import Foundation
import Testing

@testable import SiteTools

@Suite("Encodings (WHATWG Encoding)")
struct EncodingTests {
    @Test("have 228 labels, each of one encoding")
    func labels() {
        let labels = WebEncoding.allCases.flatMap { encoding in
            [encoding.rawValue.lowercased()] + encoding.otherLabels.split(separator: " ").map(String.init)
        }
        #expect(WebEncoding.allCases.count == 40)
        #expect(labels.count == 228)
        #expect(Set(labels).count == 228)
        for label in labels { #expect(WebEncoding(label: label) != nil, "\(label)") }
    }

    @Test(
        "are found by labels in any case, with white space around them",
        arguments: [
            ("utf-8", .utf8), (" UTF8\n", .utf8), ("\tGb2312\r", .gbk), ("x-sjis", .shiftJIS),
            ("Windows-31J", .shiftJIS),
            ("KS_C_5601-1987", .eucKR), ("ascii", .windows1252), ("ISO-8859-1", .windows1252), ("latin5", .windows1254),
            ("tis-620", .windows874), ("Big5-HKSCS", .big5), ("iso-8859-8-i", .iso8859p8I), ("visual", .iso8859p8),
            ("utf-16", .utf16LE), ("unicodeFFFE", .utf16BE), ("hz-gb-2312", .replacement), ("x-x-big5", .big5),
            ("ISO-2022-KR", .replacement), ("x-user-defined", .userDefined), ("mac", .macintosh), ("koi8-ru", .koi8U),
            ("", nil), ("utf 8", nil), ("'gbk'", nil), ("utf-7", nil), ("latin-1", nil), ("\u{A0}gbk", nil),
            // The Kelvin sign is a K in lower case by the rules of Unicode, not by those of labels.
            ("\u{212A}oi8-r", nil), ("shift_jis;", nil),
        ] as [(String, WebEncoding?)]
    )
    func label(text: String, encoding: WebEncoding?) {
        #expect(WebEncoding(label: text) == encoding)
    }

    /// The SHA-256 digests of the standard's indexes: of each pointer's code point as 32 bits, 0 where it has none.
    ///
    /// `Scripts/encoding-differences.py` prints them. A C library whose tables differ fails here, and needs entries in
    /// the table of differences.
    @Test("have the characters of the standard's indexes", arguments: digests)
    func index(index: CharacterTable.Index, digest: String) throws {
        let table = try #require(CharacterTable.of(index))
        var bytes = [UInt8]()
        for character in table.characters {
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: character >> ($0 * 8)) }
        }
        var hash = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256(bytes, bytes.count, &hash)
        #expect(hash.map { String(format: "%02x", $0) }.joined() == digest)
    }

    static let digests: [(CharacterTable.Index, String)] = [
        (.jis0208, "143bd5dbf339786cb8643f2cf3c9e813c4795c1f672f0958c8876e38a7cefc13"),
        (.jis0212, "e9d2ee024e4334b7fcd6c0e84cbb057f5b80f6b7b5be105c884cde086baf812e"),
        (.eucKR, "d087addd85e8082c588fad9f8317ed31f9043dafe85beadb353ddb7d7c765c24"),
        (.big5, "6a1d3a91d2b196ba7fd84a2813509539834dc500d6e2214e4ca4143287298920"),
        (.gb18030, "1a94120ed767b2c46bed4ef74c77562587a3c79187759e0b7499360f169058e0"),
        (.singleByte(.ibm866), "e1621a718e1b4ca2f79689d89f11678ee38cefc0829d985428181e9c2bf64e2e"),
        (.singleByte(.iso8859p2), "7905c614ac0a095f61d34ddd4e048bea762d94d9668b20f71e16361962ae04f5"),
        (.singleByte(.iso8859p3), "63cc808346d449764c23ee2f921828dab489bfc02f83db83bfbe001406c2cea6"),
        (.singleByte(.iso8859p4), "ca486d61ffb3b11a2dbd78979523b4dbe235944521d4f9f32646e77a89e0d579"),
        (.singleByte(.iso8859p5), "84579dd6b27843b7c22fd016a911b0dc81cc97a7d1251eb769d6d2b9300cd5d1"),
        (.singleByte(.iso8859p6), "ed6af68e4f0b460b97e52e5fa8b91d6a1383e4200ffeb1f7e3b8db9871d3514f"),
        (.singleByte(.iso8859p7), "79b5f6dbb8f3ab222db51cd59c1cdd90eb51c8fcddab60e23b8bbd9e9c9f7338"),
        (.singleByte(.iso8859p8), "fc1698e766ed558b2041b65289af4362517bffd0bd22ed5a7f6236ba9284e199"),
        (.singleByte(.iso8859p10), "01985a975b960e22f99ec3690665a81906d2e88ece9deb747f0ebe350622a205"),
        (.singleByte(.iso8859p13), "6e95e0e544eca88df656ce9b38a446ee33b4e734cfc1673c78568df113b97f09"),
        (.singleByte(.iso8859p14), "01061a2dad8e374c563581150146331b1ac4f74ff9e886c4b8dc2076eccd8644"),
        (.singleByte(.iso8859p15), "8ca311f7098a35b9a210c7a49488cbf0460e847a732f222bf7510f28b2460bda"),
        (.singleByte(.iso8859p16), "a4532b3b2e171d8bc814548b8a30381be9b7b66be9f78f3fa601dd746e5e7b14"),
        (.singleByte(.koi8R), "bdca09a895710d2cec8014a77fcac2b862e1e9fc69b3f6381289979237c6ab43"),
        (.singleByte(.koi8U), "8d9c8b335c42541218973913f15c3650ecb097243cdbdec75abb6c2160473420"),
        (.singleByte(.macintosh), "768f4775c0975058e7dc5cb23a9e5b67152fdcb96be113100cdb5bcd80fa205f"),
        (.singleByte(.windows874), "67014549cb089fcb27892f75b0e5e5d5aad17841296fb9a959909c740f96afc1"),
        (.singleByte(.windows1250), "51ab398a0317f7642e94083bdfbb7e9fa58f03cc09a622cfbf100b449b98c303"),
        (.singleByte(.windows1251), "ca83720c744518ec33d79b998618af74564591376d010dec4c848b6f75f1e8ae"),
        (.singleByte(.windows1252), "ca442906da34b5376d660c3075b1bfc3b30f1d6a7131e900d7210ee99cbc7a65"),
        (.singleByte(.windows1253), "cf6bf8bbb15c8d84f8f3984c02d7e6d1fd8ce3f98a76f65c332b4b950385bb2c"),
        (.singleByte(.windows1254), "005b160e7b50dafc77cab9777e81e38df7f4867e288647181158962fe63e14a0"),
        (.singleByte(.windows1255), "43519ed5eb98b1e4cf1b1541d6be308af0e6572aca120445e0ba5c55cc13a465"),
        (.singleByte(.windows1256), "828ebbbccd2b81f8e5c884421fa0fa34c5ef683100922b3ecd27746bdef85da2"),
        (.singleByte(.windows1257), "26bf5f76fe4fd68cce7ebc74815d42e23279e67487ed7f816bff14179cb5cb45"),
        (.singleByte(.windows1258), "9d0510f5f5c99e69e0fa95de422f5e0678c250d3fca03c0c474454ea8c322371"),
        (.singleByte(.macCyrillic), "00a81d5e2383c86ca490e6a2f9d1bbd8bc0123dc6698773061397a917b974a81"),
    ]

    private func decoded(_ bytes: [UInt8], _ encoding: WebEncoding) -> String? {
        bytes.withUnsafeBufferPointer { encoding.decoded($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "replace a wrong sequence by one character, and give back an ASCII byte that follows",
        arguments: [
            (.utf8, "61 FF 62", "a\u{FFFD}b"), (.utf8, "E3 81 3C E3 81 82", "\u{FFFD}<あ"),
            (.utf8, "ED A0 80", "\u{FFFD}\u{FFFD}\u{FFFD}"), (.utf8, "F0 9F 98", "\u{FFFD}"),
            (.shiftJIS, "83 3C 61", "\u{FFFD}<a"), (.shiftJIS, "FF FE 93 FA", "\u{FFFD}\u{FFFD}日"),
            (.shiftJIS, "80 A0 A1 DF", "\u{80}\u{FFFD}\u{FF61}\u{FF9F}"), (.shiftJIS, "5C 7E", "\\~"),
            (.shiftJIS, "F0 40 F9 FC", "\u{E000}\u{E757}"), (.shiftJIS, "81", "\u{FFFD}"),
            (.shiftJIS, "87 40 FB FC", "①髙"), (.shiftJIS, "85 41 85 9F", "\u{FFFD}A\u{FFFD}"),
            (.eucJP, "FF C6 FC", "\u{FFFD}日"), (.eucJP, "8E B1 8E 41", "\u{FF71}\u{FFFD}A"),
            (.eucJP, "8F B0 A1", "丂"), (.eucJP, "8F A1 A1 A4 A2", "\u{FFFD}あ"), (.eucJP, "8F B0 3C", "\u{FFFD}<"),
            (.eucJP, "8F", "\u{FFFD}"), (.eucJP, "A4 FF A4 A2", "\u{FFFD}あ"),
            (.iso2022JP, "1B 24 42 46 7C 1B 28 42 61", "日a"), (.iso2022JP, "1B 28 4A 5C 7E 1B 28 42 5C", "¥‾\\"),
            (.iso2022JP, "1B 28 49 31", "\u{FF71}"), (.iso2022JP, "1B 24 42 46 1B 28 42 61", "\u{FFFD}a"),
            (.iso2022JP, "1B 28 42 1B 28 42 61", "\u{FFFD}a"), (.iso2022JP, "1B 24 61", "\u{FFFD}$a"),
            (.iso2022JP, "0E C8 1B", "\u{FFFD}\u{FFFD}\u{FFFD}"), (.iso2022JP, "1B 24 40 46 7C", "日"),
            (.gbk, "D6 D0 CE C4", "中文"), (.gbk, "80 FF", "€\u{FFFD}"), (.gbk, "81 3C", "\u{FFFD}<"),
            (.gbk, "81 30 81 30", "\u{80}"), (.gb18030, "81 35 F4 37", "\u{E7C7}"),
            (.gb18030, "90 30 81 30 E3 32 9A 35", "\u{10000}\u{10FFFF}"), (.gb18030, "E3 32 9A 36", "\u{FFFD}"),
            (.gb18030, "84 31 A4 39", "\u{FFFF}"), (.gb18030, "84 31 A5 30", "\u{FFFD}"),
            (.gb18030, "81 30 3C 62", "\u{FFFD}0<b"), (.gb18030, "81 30 81", "\u{FFFD}"),
            (.gb18030, "81 30 81 61", "\u{FFFD}0乤"), (.gb18030, "81 30", "\u{FFFD}"),
            (.gb18030, "A3 A0 A6 D9 FE 51", "\u{3000}\u{FE10}\u{E816}"), (.gb18030, "A8 BC", "ḿ"),
            (.gb18030, "84 31 82 36 82 35 90 37", "\u{FE10}\u{9FB4}"),
            (.big5, "A4 A4 A4 E5", "中文"), (.big5, "88 62 88 64 88 A3 88 A5", "Ê̄Ê̌ê̄ê̌"),
            (.big5, "87 40 FE FE 87 45", "䏰\u{79D4}\u{27267}"), (.big5, "A1 5A A1 7F", "╴\u{FFFD}\u{7F}"),
            (.big5, "80 FF 81 40", "\u{FFFD}\u{FFFD}\u{FFFD}@"), (.big5, "A4 3C", "\u{FFFD}<"),
            (.eucKR, "C7 D1 B1 B9 81 41", "한국갂"), (.eucKR, "81 5B A1", "\u{FFFD}[\u{FFFD}"),
            (.eucKR, "80 C9 A1", "\u{FFFD}\u{FFFD}"), (.windows1251, "98 EC E8 F0", "\u{98}мир"),
            (.windows1252, "80 81 8D", "€\u{81}\u{8D}"), (.windows1253, "D2 CA", "\u{FFFD}Κ"),
            (.windows1255, "CA F9 D9", "\u{5BA}ש\u{FFFD}"), (.windows874, "80 81 DB E0", "€\u{81}\u{FFFD}เ"),
            (.koi8U, "AE BE", "ўЎ"), (.macintosh, "C6 F0", "∆\u{F8FF}"), (.macCyrillic, "FF", "€"),
            (.iso8859p8I, "F9 A1", "ש\u{FFFD}"), (.windows1258, "D0 EC F2", "Đ\u{301}\u{323}"),
            (.userDefined, "41 80 FF", "A\u{F780}\u{F7FF}"), (.replacement, "61 62", "\u{FFFD}"),
            (.replacement, "", ""),
            (.utf16LE, "61 00 3D D8 00 DE", "a😀"), (.utf16BE, "D8 3D 00 61 DE 00", "\u{FFFD}a\u{FFFD}"),
            (.utf16LE, "61 00 62", "a\u{FFFD}"), (.utf16LE, "3D D8 62", "\u{FFFD}"), (.utf16LE, "", ""),
        ] as [(WebEncoding, String, String)]
    )
    func replacement(encoding: WebEncoding, bytes: String, text: String) throws {
        let bytes = try bytes.split(separator: " ").map { try #require(UInt8($0, radix: 16)) }
        #expect(decoded(bytes, encoding)?.unicodeScalars.map(\.value) == text.unicodeScalars.map(\.value))
    }

    @Test(
        "encode queries, with references for the characters that they lack",
        arguments: [
            (.windows1251, "q=мир&x=a+b%20c", "q=%EC%E8%F0&x=a+b%20c"), (.windows1251, "中ж", "%26%2320013%3B%E6"),
            (.windows1252, "é€日", "%E9%80%26%2326085%3B"), (.iso8859p2, "ż€", "%BF%26%238364%3B"),
            (.shiftJIS, "日本ソ", "%93%FA%96{%83\\"), (.shiftJIS, "¥‾ｱ−髙①", "\\~%B1%81|%FB%FC%87@"),
            (.eucJP, "日ｱ−¥‾", "%C6%FC%8E%B1%A1%DD\\~"), (.eucJP, "丂", "%26%2319970%3B"),
            (.iso2022JP, "a日b", "a%1B$BF|%1B(Bb"), (.iso2022JP, "¥a\\", "%1B(J\\a%1B(B\\"),
            (.iso2022JP, "ｱ日", "%1B$B%%22F|%1B(B"), (.iso2022JP, "日😀", "%1B$BF|%1B(B%26%23128512%3B"),
            (.iso2022JP, "é\u{1B}", "%26%23233%3B%26%2365533%3B"), (.iso2022JP, "、〃", "%1B$B!%22!7%1B(B"),
            (.gbk, "中€😀", "%D6%D0%80%26%23128512%3B"), (.gb18030, "中€😀", "%D6%D0%A2%E3%949%FC6"),
            (.gb18030, "\u{E5E5}\u{E7C7}\u{E78D}\u{FE10}", "%26%2358853%3B%815%F47%A6%D9%A6%D9"),
            (.big5, "中十卅═", "%A4%A4%A4Q%A4%CA%F9%F9"), (.big5, "ℓ䏰", "%26%238467%3B%26%2317392%3B"),
            (.eucKR, "한갂", "%C7%D1%81A"), (.windows874, "ไท", "%E4%B7"), (.koi8U, "ўї", "%AE%A7"),
            (.userDefined, "\u{F780}é", "%80%26%23233%3B"), (.windows1258, "Đế", "%D0%26%237871%3B"),
            (.utf8, "é", nil), (.utf16LE, "é", nil), (.replacement, "é", nil), (.gbk, "plain", nil),
        ] as [(WebEncoding, String, String?)]
    )
    func queries(encoding: WebEncoding, query: String, encoded: String?) {
        #expect(encoding.percentEncodedQuery(query[...]) == encoded)
    }
}
