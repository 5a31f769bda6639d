import Foundation
import Testing

@testable import WaystationHTTP

/// One of the public cases.
struct HTTPStateCase: Sendable, CustomTestStringConvertible {
    var name: String
    var fields: [String] = []
    var next = URL(filePath: "/")
    var sent: String?

    var testDescription: String { name }

    static let origin = "http://home.example.org:8888"

    static let all: [HTTPStateCase] = {
        var cases: [HTTPStateCase] = []
        for line in HTTPStateFacts.cases.split(separator: "\n") {
            let word = line.prefix { $0 != " " }
            let rest = decode(line.dropFirst(word.count + 1))
            if word == "#" {
                cases.append(HTTPStateCase(name: rest))
                cases[cases.count - 1].next = url("/cookie-parser-result")
                continue
            }
            guard !cases.isEmpty else { continue }
            switch word {
            case "set": cases[cases.count - 1].fields.append(rest)
            case "get": cases[cases.count - 1].next = url(rest)
            default: cases[cases.count - 1].sent = rest
            }
        }
        return cases
    }()

    static func url(_ text: String) -> URL {
        URL(string: text.hasPrefix("/") ? origin + text : text) ?? URL(filePath: "/")
    }

    private static func decode(_ text: Substring) -> String {
        var text = text.replacingOccurrences(of: "⇥", with: "\t").replacingOccurrences(of: "␠", with: " ")
        if let start = text.range(of: "{a*"), let end = text.range(of: "}"),
            let count = Int(text[start.upperBound..<end.lowerBound])
        {
            text.replaceSubrange(start.lowerBound..<end.upperBound, with: String(repeating: "a", count: count))
        }
        return text
    }
}

@Suite("The public http-state cases")
struct HTTPStateTests {
    /// The time at which the cases were written: cookies that end in 2019 must still be alive.
    private let now = Date(timeIntervalSince1970: 1_300_000_000)

    @Test("are all present")
    func count() {
        #expect(HTTPStateCase.all.count == 218)
        #expect(HTTPStateDateFacts.dates.count == 70)
    }

    @Test("produce the Cookie field that RFC 6265 requires", arguments: HTTPStateCase.all)
    func parser(_ facts: HTTPStateCase) {
        var jar = CookieJar()
        for field in facts.fields {
            jar.store(field, from: HTTPStateCase.url("/cookie-parser"), now: now)
        }
        #expect(jar.header(for: facts.next, now: now) == facts.sent)
    }

    @Test("contain dates that the date search reads correctly", arguments: HTTPStateDateFacts.dates)
    func dates(_ facts: (text: String, seconds: Int?)) {
        let date = CookieDate.parse(facts.text[...].utf8)
        #expect(date?.timeIntervalSince1970 == facts.seconds.map(Double.init))
    }

    /// The collection itself has disabled these four cases; here they follow RFC 6265bis and RFC 6265.
    @Test(
        "that the collection disabled follow the newer RFC",
        arguments: [
            (String(repeating: "a", count: 4_097), "/cookie-parser-result", nil as String?),
            ("AAA=BB\0ZYX", "/cookie-parser-result", nil),
            ("AAA=BB\rZYX", "/cookie-parser-result", nil),
            ("foo=bar; path=/cookie-parser-result/foo/bar", "/cookie-parser-result/f%6Fo/bar", nil),
        ]
    )
    func switchedOff(field: String, next: String, sent: String?) {
        var jar = CookieJar()
        jar.store(field, from: HTTPStateCase.url("/cookie-parser"), now: now)
        #expect(jar.header(for: HTTPStateCase.url(next), now: now) == sent)
    }
}
