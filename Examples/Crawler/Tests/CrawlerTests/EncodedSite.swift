import Foundation
import WaystationTesting

/// A site with a page in each encoding of the WHATWG Encoding standard.
///
/// Each page has a link with a word in its path and in its query, and a style sheet, in the same encoding, with such a
/// reference. A page states its encoding in the response, another one in a `meta` element, and the style sheet does not
/// state it at all.
enum EncodedSite {
    private struct Page {
        let encoding: String
        let word: String
        /// The word as bytes of the encoding.
        let bytes: [UInt8]
        /// The word in the query of a request.
        let query: String

        init(_ encoding: String, _ word: String, _ bytes: String, query: String) {
            self.encoding = encoding
            self.word = word
            self.bytes = bytes.split(separator: " ").compactMap { UInt8($0, radix: 16) }
            self.query = query
        }
    }

    /// Written by Python's codecs, which agree with the standard about these words.
    private static let pages = [
        Page("UTF-8", "日本", "E6 97 A5 E6 9C AC", query: "%E6%97%A5%E6%9C%AC"),
        Page("IBM866", "мир", "AC A8 E0", query: "%AC%A8%E0"),
        Page("ISO-8859-2", "żółć", "BF F3 B3 E6", query: "%BF%F3%B3%E6"),
        Page("ISO-8859-3", "ĝuste", "F8 75 73 74 65", query: "%F8uste"),
        Page("ISO-8859-4", "ķēde", "F3 BA 64 65", query: "%F3%BAde"),
        Page("ISO-8859-5", "мир", "DC D8 E0", query: "%DC%D8%E0"),
        Page("ISO-8859-6", "سلام", "D3 E4 C7 E5", query: "%D3%E4%C7%E5"),
        Page("ISO-8859-7", "κόσμε", "EA FC F3 EC E5", query: "%EA%FC%F3%EC%E5"),
        Page("ISO-8859-8", "שלום", "F9 EC E5 ED", query: "%F9%EC%E5%ED"),
        Page("ISO-8859-8-I", "שלום", "F9 EC E5 ED", query: "%F9%EC%E5%ED"),
        Page("ISO-8859-10", "þæð", "FE E6 F0", query: "%FE%E6%F0"),
        Page("ISO-8859-13", "ąžuolas", "E0 FE 75 6F 6C 61 73", query: "%E0%FEuolas"),
        Page("ISO-8859-14", "ŵyneb", "F0 79 6E 65 62", query: "%F0yneb"),
        Page("ISO-8859-15", "œ€", "BD A4", query: "%BD%A4"),
        Page("ISO-8859-16", "șa", "BA 61", query: "%BAa"),
        Page("KOI8-R", "мир", "CD C9 D2", query: "%CD%C9%D2"),
        Page("KOI8-U", "їжак", "A7 D6 C1 CB", query: "%A7%D6%C1%CB"),
        Page("macintosh", "éü", "8E 9F", query: "%8E%9F"),
        Page("windows-874", "ไทย", "E4 B7 C2", query: "%E4%B7%C2"),
        Page("windows-1250", "żółć", "BF F3 B3 E6", query: "%BF%F3%B3%E6"),
        Page("windows-1251", "мир", "EC E8 F0", query: "%EC%E8%F0"),
        Page("windows-1252", "éü€", "E9 FC 80", query: "%E9%FC%80"),
        Page("windows-1253", "κόσμε", "EA FC F3 EC E5", query: "%EA%FC%F3%EC%E5"),
        Page("windows-1254", "ığü", "FD F0 FC", query: "%FD%F0%FC"),
        Page("windows-1255", "שלום", "F9 EC E5 ED", query: "%F9%EC%E5%ED"),
        Page("windows-1256", "سلام", "D3 E1 C7 E3", query: "%D3%E1%C7%E3"),
        Page("windows-1257", "ąžuolas", "E0 FE 75 6F 6C 61 73", query: "%E0%FEuolas"),
        Page("windows-1258", "đơn", "F0 F5 6E", query: "%F0%F5n"),
        Page("x-mac-cyrillic", "мир", "EC E8 F0", query: "%EC%E8%F0"),
        Page("GBK", "中文", "D6 D0 CE C4", query: "%D6%D0%CE%C4"),
        Page("gb18030", "中文㐀", "D6 D0 CE C4 81 39 EE 39", query: "%D6%D0%CE%C4%819%EE9"),
        Page("Big5", "中文", "A4 A4 A4 E5", query: "%A4%A4%A4%E5"),
        Page("EUC-JP", "日本", "C6 FC CB DC", query: "%C6%FC%CB%DC"),
        Page("ISO-2022-JP", "日本", "1B 24 42 46 7C 4B 5C 1B 28 42", query: "%1B$BF%7CK%5C%1B(B"),
        Page("Shift_JIS", "日本", "93 FA 96 7B", query: "%93%FA%96%7B"),
        Page("EUC-KR", "한국", "C7 D1 B1 B9", query: "%C7%D1%B1%B9"),
        Page("x-user-defined", "\u{F780}\u{F7FF}", "80 FF", query: "%80%FF"),
    ]

    private struct Document: Sendable {
        let type: String
        let body: Data
    }

    /// The documents by their path.
    private static let documents: [String: Document] = {
        var documents: [String: Document] = [:]
        func add(_ path: String, _ type: String, _ body: Data) {
            documents[path] = Document(type: type, body: body)
        }
        for page in pages {
            let name = page.encoding
            let reference = { (kind: String) in
                Data("/\(kind)/\(name)/".utf8) + page.bytes + Data("?".utf8) + page.bytes
            }
            let links =
                Data("<link rel=stylesheet href=/\(name).css><a href=\"".utf8) + reference("linked") + Data("\">".utf8)
            add("/response/\(name)", "text/html; charset=\"\(name.uppercased())\"", links)
            if name != "x-user-defined" {
                add("/meta/\(name)", "text/html", Data("<meta charset='\(name)'>".utf8) + links)
            }
            add("/\(name).css", "text/css", Data("a { background: url(".utf8) + reference("styled") + Data(")".utf8))
        }
        for (name, encoding) in [("UTF-16LE", String.Encoding.utf16LittleEndian), ("UTF-16BE", .utf16BigEndian)] {
            let text = "<a href='/linked/\(name)/日本?日本'>"
            add("/response/\(name)", "text/html; charset=\(name)", text.data(using: encoding) ?? Data())
            add("/mark/\(name)", "text/html", ("\u{FEFF}" + text).data(using: encoding) ?? Data())
        }
        add("/response/replacement", "text/html; charset=iso-2022-kr", Data("<a href=/never>".utf8))
        let index = documents.keys.filter {
            $0.hasPrefix("/response") || $0.hasPrefix("/meta") || $0.hasPrefix("/mark")
        }
        add("/", "text/html", Data(index.sorted().map { "<a href=\($0)>" }.joined().utf8))
        return documents
    }()

    /// The targets of the requests of a crawl without robots.txt and sitemaps.
    static let targets: Set<String> = {
        var targets = Set(documents.keys)
        for page in pages {
            for kind in ["linked", "styled"] {
                targets.insert("/\(kind)/\(page.encoding)/\(percentEncoded(page.word))?\(page.query)")
            }
        }
        for name in ["UTF-16LE", "UTF-16BE"] {
            let word = percentEncoded("日本")
            targets.insert("/linked/\(name)/\(word)?\(word)")
        }
        return targets
    }()

    /// The number of pages, without the targets of their links.
    static var pageCount: Int { documents.values.count { $0.type.hasPrefix("text/html") } }

    private static func percentEncoded(_ word: String) -> String {
        word.utf8.map { $0 < 0x80 ? String(UnicodeScalar($0)) : String(format: "%%%02X", $0) }.joined()
    }

    static func serve() throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            if let document = documents[request.target] {
                return .ok(document.body, fields: ["Content-Type": document.type])
            }
            return targets.contains(request.target)
                ? .ok(Data("found".utf8), fields: ["Content-Type": "text/plain"]) : .status(404)
        }
    }
}
