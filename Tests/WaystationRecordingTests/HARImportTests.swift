import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationStorage

@testable import WaystationRecording

@Suite("A HAR is imported entry by entry")
struct HARImportTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    /// An entry as JSON.
    private static func entry(
        _ url: String,
        date: String = day(-5),
        fields: String = #"{"name": "Content-Type", "value": "text/html"}"#,
        content: String = #""size": 5, "text": "hello""#,
        bodySize: Int = -1
    ) -> String {
        #"{"startedDateTime": "\#(date)", "time": 1, "request": {"method": "GET", "url": "\#(url)", "headers": []}, "#
            + #""response": {"status": 200, "headers": [\#(fields)], "bodySize": \#(bodySize), "content": {\#(content)}}}"#
    }

    /// A day before or after today, as HAR writes it.
    private static func day(_ number: Int) -> String {
        Timestamp.text(start.addingTimeInterval(Double(number) * 86_400))
    }

    private static let start = Date()

    private static func har(_ entries: [String]) -> Data {
        Data((#"{"log": {"version": "1.2", "entries": ["# + entries.joined(separator: ",\n") + "]}}").utf8)
    }

    private func imported(
        _ entries: [String],
        into cache: ResponseCache? = nil,
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) async throws -> ImportReport {
        var options = ImportOptions()
        change(&options)
        let file = try place.file("\(UUID().uuidString).har", Self.har(entries))
        return try await (cache ?? place.cache()).importRecording(at: file, options: options)
    }

    /// The URL of a link as a browser records it, and the one under which a gateway loads it.
    static let links = [
        ("x?a[]=1", "x?a%5B%5D=1"), ("x?a|b", "x?a%7Cb"), ("x?a{1}", "x?a%7B1%7D"), ("x?q=100%", "x?q=100%25"),
        ("x?q=%zz", "x?q=%25zz"), ("css?family=Lato:400,700|Roboto", "css?family=Lato:400,700%7CRoboto"),
        ("p%/x", "p%25/x"), ("a[1].html", "a%5B1%5D.html"), ("x?q=50%&r=[1]", "x?q=50%25&r=%5B1%5D"),
        ("x?q=%E3%81%82&t=100%", "x?q=%E3%81%82&t=100%25"), (#"x?a=\\b"#, "x?a=%5Cb"), ("x?a^b`c", "x?a%5Eb%60c"),
        ("x?a='b'", "x?a='b'"), ("x?%2f", "x?%2f"), (" x?a#[b]", "x?a"),
    ]

    @Test("under the URL that a live load of the same link has", arguments: links)
    func urls(recorded: String, stored: String) async throws {
        let url =
            recorded.hasPrefix(" ")
            ? " https://shop.example/\(recorded.dropFirst())" : "https://shop.example/" + recorded
        let cache = try place.cache()
        let report = try await imported([Self.entry(url)], into: cache) { $0.time = .now }
        #expect(report.imported.map(\.url) == ["https://shop.example/" + stored], "\(report.skipped)")
        let target = try #require(URL(string: "https://shop.example/" + stored, encodingInvalidCharacters: false))
        #expect(try await offline(cache).data(from: target).0 == Data("hello".utf8))
    }

    @Test("and an address in brackets stays one")
    func addresses() async throws {
        let report = try await imported([Self.entry("http://[::1]:8080/x?a[]=1")])
        #expect(report.imported.map(\.url) == ["http://[::1]:8080/x?a%5B%5D=1"])
    }

    /// A content, the response's fields and the size of its transfer, and the result.
    static let contents: [(content: String, fields: String, bodySize: Int, outcome: String)] = [
        (#""size": 5, "text": """#, "", -1, "noBody"), (#""size": 5"#, "", -1, "noBody"),
        (#""size": 0"#, #"{"name": "Content-Length", "value": "4215"}"#, 4215, "noBody"),
        (#""size": 0, "text": """#, "", 4215, "noBody"),
        (#""size": 0, "text": """#, #"{"name": "Content-Length", "value": "0"}"#, 5, "0"),
        (#""size": 0"#, "", -1, "0"), (#""size": -1"#, "", -1, "noBody"), ("", "", -1, "noBody"),
        (#""size": 4000, "text": "short""#, "", -1, "incomplete"),
        (#""size": 5, "text": "short""#, #"{"name": "Content-Length", "value": "4000"}"#, -1, "incomplete"),
        // The length is that of the coded body.
        (
            #""size": 5, "text": "short""#,
            #"{"name": "Content-Length", "value": "25"}, {"name": "Content-Encoding", "value": "gzip"}"#, -1, "5"
        ),
        (
            #""size": 25, "text": "short""#,
            #"{"name": "Content-Length", "value": "25"}, {"name": "Content-Encoding", "value": "gzip"}"#, -1, "5"
        ),
        (
            #""size": 4000, "text": "short""#,
            #"{"name": "Content-Length", "value": "4000"}, {"name": "Content-Encoding", "value": "gzip"}"#, -1,
            "incomplete"
        ),
        // Some programs state the size of the coded body.
        (#""size": 3, "text": "short""#, "", -1, "5"), (#""text": "short""#, "", -1, "5"),
        (#""size": "5", "text": "short""#, "", -1, "5"),
        // Three bytes of a byte order mark, which browsers leave out, and a page in UTF-16.
        (#""size": 8, "text": "short""#, "", -1, "5"), (#""size": 12, "text": "short""#, "", -1, "5"),
        (#""size": 7, "text": "short""#, "", -1, "incomplete"),
        (#""size": 6, "text": "AP8=", "encoding": "base64""#, "", -1, "incomplete"),
        (#""size": 2, "text": "AP8", "encoding": "base64""#, "", -1, "2"),
        (#""size": 3, "text": "-_8A", "encoding": "base64""#, "", -1, "3"),
        (#""size": 2, "text": 7"#, "", -1, "noBody"), (#""size": 2, "text": null"#, "", -1, "noBody"),
        (#""size": 5, "text": "short", "encoding": "utf-8""#, "", -1, "5"),
    ]

    @Test("whose bodies are complete only if the stated sizes agree", arguments: contents)
    func sizes(content: String, fields: String, bodySize: Int, outcome: String) async throws {
        let entry = Self.entry("https://shop.example/a", fields: fields, content: content, bodySize: bodySize)
        let report = try await imported([entry])
        let found = report.imported.first.map { "\($0.bytes)" } ?? report.skipped.first?.reason.description
        #expect(found == outcome, "\(report.skipped)")
    }

    @Test("and an incomplete body never replaces a good one")
    func incomplete() async throws {
        let cache = try place.cache()
        let url = "https://shop.example/a"
        let later = Self.day(-4)
        let report = try await imported(
            [
                Self.entry(url), Self.entry(url, date: later, content: #""size": 5, "text": """#),
                Self.entry(url, date: later, content: #""size": 50, "text": "hell""#),
            ],
            into: cache
        )
        #expect(report.skipped.map(\.reason) == [.noBody, .incomplete])
        #expect(report.skipped.first?.detail == "the recording does not have its body, which has 5 bytes")
        #expect(try await offline(cache).data(from: try #require(URL(string: url))).0 == Data("hello".utf8))
    }

    @Test("whose values with line breaks are several values of the field")
    func lines() async throws {
        func entry(_ path: String, _ name: String, _ value: String) -> String {
            Self.entry("https://shop.example/\(path)", fields: #"{"name": "\#(name)", "value": "\#(value)"}"#)
        }
        let cache = try place.cache()
        let report = try await imported(
            [
                entry("a", "cache-control", #"no-store\nprivate"#),
                entry("b", "Cache-Control", #"max-age=9\r\nno-store"#),
                entry("c", "vary", #"Accept-Language\nCookie"#), entry("d", "vary", #"Accept-Encoding\n*"#),
                entry("e", "etag", #"\n\"1\"\n"#),
            ],
            into: cache
        ) { $0.time = .now }
        #expect(report.reasons == ["/a": "noStore", "/b": "noStore", "/d": "notStorable"])
        var request = URLRequest(url: try #require(URL(string: "https://shop.example/c")))
        request.setValue("de", forHTTPHeaderField: "Accept-Language")
        await #expect(throws: URLError.self) { try await offline(cache).data(for: request) }
        let tagged = try await offline(cache).data(from: try #require(URL(string: "https://shop.example/e"))).1
        #expect((tagged as? HTTPURLResponse)?.value(forHTTPHeaderField: "ETag")?.hasSuffix("\"1\"") == true)
    }

    /// Changes of a member, and what happens to the entry: it is imported, or the reason why not.
    static let members: [(from: String, to: String, outcome: String)] = [
        (#""value": "text/html""#, #""value": null"#, "imported"), (#", "value": "text/html""#, "", "imported"),
        (#""value": "text/html""#, #""value": 7"#, "imported"), (#""value": "text/html""#, #""value": {}"#, "imported"),
        (#""name": "Content-Type""#, #""name": null"#, "imported"),
        (#"{"name": "Content-Type", "value": "text/html"}"#, "null", "imported"),
        (#""time": 1"#, #""time": NaN"#, "imported"), (#""time": 1"#, #""time": "1""#, "imported"),
        (#""startedDateTime": "#, #""startedDateTime": [], "x": "#, "imported"),
        (#""status": 200"#, #""status": "200""#, "imported"), (#""status": 200"#, #""status": null"#, "status"),
        (#""size": 5"#, #""size": [5]"#, "imported"), (#""text": "hello""#, #""text": {}"#, "noBody"),
        (#""request": {"#, #""request": null, "x": {"#, "damagedEntry"), (#""method": "GET", "#, "", "damagedEntry"),
        (#""url": "https://shop.example/odd""#, #""url": 7"#, "damagedEntry"),
        (#""response": {"#, #""response": 7, "x": {"#, "status"), (#""hello""#, #""AB\ud83dCD""#, "damagedEntry"),
        (#""hello""#, "hello", "damagedEntry"), (#""time": 1,"#, #""time": 1 "#, "damagedEntry"),
        (#""time": 1"#, #""time": 1e999"#, "imported"),
    ]

    @Test("whose odd members read as absent, and which is skipped alone if it cannot be used", arguments: members)
    func oddMembers(from: String, to: String, outcome: String) async throws {
        let odd = Self.entry("https://shop.example/odd")
        try #require(odd.contains(from))
        let good = ["a", "b"].map { Self.entry("https://shop.example/\($0)") }
        let changed = odd.replacing(from, with: to)
        let report = try await imported([good[0], changed, good[1]])
        #expect(report.imported.count == (outcome == "imported" ? 3 : 2), "\(report.skipped)")
        guard outcome != "imported" else { return }
        let skipped = try #require(report.skipped.first)
        #expect(skipped.reason.description == outcome, "\(skipped.detail)")
        let start = Self.har([good[0]]).count - 3 + 2
        #expect(skipped.place == ImportReport.Place(number: 2, offset: start))
        #expect(skipped.place.description == "no. 2, byte \(start)")
        if outcome == "damagedEntry" { #expect(skipped.detail.contains("log.entries[1]"), "\(skipped.detail)") }
        if to.contains("ud83d") {
            let reason = "log.entries[1].response.content.text cannot be read: the text has half of a surrogate pair"
            #expect(skipped.detail.hasPrefix(reason), "\(skipped.detail)")
        }
    }

    @Test("does not end the process at a member's name that is not UTF-8", arguments: ["@abcd", "\"@abcd\""])
    func memberNameThatIsNotUTF8(name: String) async throws {
        let odd = Self.entry("https://shop.example/odd").replacing("\"time\": 1", with: "\"time\": NaN, \(name): 1")
        let good = ["a", "b"].map { Self.entry("https://shop.example/\($0)") }
        let text = Self.har([good[0], odd, good[1]])
        let bytes = Data(text.map { $0 == UInt8(ascii: "@") ? 0xF8 : $0 })
        let file = try place.file("odd.har", bytes)
        let report = try await place.cache().importRecording(at: file)
        #expect(report.imported.count == 2)
        #expect(report.skipped.map(\.reason) == [.damagedEntry])
    }

    @Test(
        "and elements that are no objects are skipped alone",
        arguments: ["null", "7", "\"}\"", "[[]]", "true", "{}"]
    )
    func elements(element: String) async throws {
        let report = try await imported([element, Self.entry("https://shop.example/a"), element])
        #expect(report.imported.count == 1)
        #expect(report.skipped.map(\.place.number) == [1, 3])
        #expect(report.skipped.map(\.reason) == [.damagedEntry, .damagedEntry])
        #expect(report.skipped.map(\.url) == ["", ""])
    }

    @Test("and bytes that are not UTF-8 concern their entry alone")
    func notUTF8() async throws {
        var bytes = Self.har(["odd", "a"].map { Self.entry("https://shop.example/\($0)") })
        let place = try #require(bytes.firstRange(of: Data("hello".utf8)))
        bytes[place.lowerBound] = 0xFF
        let report = try await self.place.cache().importRecording(at: self.place.file("odd.har", bytes))
        #expect(report.imported.map(\.url) == ["https://shop.example/a"])
        #expect(report.reasons == ["/odd": "damagedEntry"])
    }

    @Test("and the newest capture of a URL stays, whatever the order", arguments: [false, true], [false, true])
    func captures(isNewerFirst: Bool, countsNow: Bool) async throws {
        let url = "https://shop.example/a"
        let newer = Self.entry(url, date: Self.day(-4), content: #""text": "newer""#)
        let entries = isNewerFirst ? [newer, Self.entry(url)] : [Self.entry(url), newer]
        let cache = try place.cache()
        let report = try await imported(entries, into: cache) { $0.time = countsNow ? .now : .recorded }
        #expect(report.skipped.map(\.reason) == (isNewerFirst ? [.older] : []))
        #expect(report.imported.count == (isNewerFirst ? 1 : 2))
        let target = try #require(URL(string: url))
        #expect(try await offline(cache).data(from: target).0 == Data("newer".utf8))
    }

    @Test("also if they are in two files, or in the future, or have no time")
    func moreCaptures() async throws {
        let url = "https://shop.example/a"
        let cache = try place.cache()
        func body() async throws -> String {
            let rows = await cache.store.lookup(RequestKey(method: "GET", url: url, partition: ""))
            return String(decoding: try #require(rows.first).body.contents(), as: UTF8.self)
        }
        func entry(_ date: String, _ text: String) -> String {
            Self.entry(url, date: date, content: #""text": "\#(text)""#)
        }
        _ = try await imported([entry(Self.day(-3), "a")], into: cache)
        #expect(try await imported([entry(Self.day(-4), "b")], into: cache).skipped.map(\.reason) == [.older])
        #expect(try await body() == "a")
        // Both count as received now.
        let future = [entry(Self.day(30), "c"), entry(Self.day(20), "d")]
        #expect(try await imported(future, into: cache).skipped.map(\.reason) == [.older])
        #expect(try await body() == "c")
        #expect(try await imported([entry("", "e"), entry(Self.day(-1), "f")], into: cache).skipped.isEmpty)
        #expect(try await body() == "f")
        _ = try await imported([entry(Self.day(-1), "g")], into: cache)
        #expect(try await body() == "g")
    }

    @Test("and the entries before a damage are stored")
    func damage() async throws {
        let whole = Self.har(["a", "b"].map { Self.entry("https://shop.example/\($0)") })
        let cut = whole.dropLast(20)
        let endings: [(data: Data, problem: String)] = [
            (cut, "the file ends within a value"), (cut + Data("]}".utf8), "the file ends within a value"),
            (whole.dropLast(3) + Data(" x]}}".utf8), "a comma is missing between two entries"),
            (whole.dropLast(3) + Data(",]}}".utf8), "a value is missing"),
            (whole.dropLast(2), "the file ends too early"),
        ]
        for (data, problem) in endings {
            let store = ResponseStore(directory: place.file(UUID().uuidString))
            let file = try place.file("cut.har", data)
            let error = await #expect(throws: RecordingError.self) { try await store.importRecording(at: file) }
            #expect(error?.code == .damagedJSON)
            #expect(error?.message.contains(problem) == true, "\(error?.message ?? "")")
            let key = RequestKey(method: "GET", url: "https://shop.example/a", partition: "")
            #expect(await store.lookup(key).count == 1)
        }
    }

    @Test("and members in any order, compression and text after the log do not matter")
    func forms() async throws {
        let entry = Self.entry("https://shop.example/a")
        let log = #"{"entries": [\#(entry)], "version": "1.2", "pages": [{"x": "]}\\\""}], "comment": "c"}"#
        let text = Data(
            #"\#u{FEFF} {"x": {"log": [1, "}"]}, "y": -1.5e3, "z": true, "log": \#(log), "log": null}"#.utf8
        )
        for (name, data) in [("plain", text), ("gz", try place.gzipped(text)), ("after", text + Data("{}".utf8))] {
            let report = try await place.cache().importRecording(at: place.file(name, data))
            #expect(report.imported.count == 1)
            let warnings = report.warnings.map { "\($0)" }
            #expect(
                warnings == (name == "after" ? ["byte \(text.count): other text follows the log; it is skipped"] : [])
            )
        }
        let reader = try HARReader(DataSource(text))
        while try reader.next() != nil {}
        #expect(reader.comment == "c")
        #expect(reader.creator == nil)
    }

    @Test("and an entry larger than the limit is skipped alone")
    func limit() async throws {
        let large = #""text": "\#(String(repeating: "a", count: 2_000))""#
        let entries = [Self.entry("https://shop.example/b", content: large), Self.entry("https://shop.example/a")]
        let report = try await imported(entries) { $0.maximumEntrySize = .bytes(1_000) }
        #expect(report.imported.count == 1)
        #expect(report.skipped.map(\.reason) == [.tooLarge])
        #expect(report.skipped.first?.detail == "the entry has \(entries[0].utf8.count) bytes, but 1000 are allowed")
    }
}
