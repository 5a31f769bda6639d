import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationRecording

@Suite("A HAR as a browser saves it")
struct BrowserImportTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    /// In Chrome's form: non-standard members, HTTP/2 with pseudo fields, decoded bodies with the fields of the coded
    /// ones.
    private static let chrome = #"""
        {
          "log": {
            "version": "1.2",
            "creator": {"name": "WebInspector", "version": "537.36"},
            "pages": [{"startedDateTime": "2026-11-01T10:00:00.000Z", "id": "page_1", "title": "https://shop.example/",
                       "pageTimings": {"onContentLoad": 141.2, "onLoad": null}}],
            "entries": [
              {
                "_connectionId": "12", "_initiator": {"type": "other"}, "_priority": "VeryHigh", "_resourceType": "document",
                "cache": {}, "connection": "443", "pageref": "page_1", "serverIPAddress": "192.0.2.1",
                "startedDateTime": "2026-11-01T10:00:00.123Z", "time": 88.4,
                "request": {
                  "method": "GET", "url": "https://SHOP.example:443/a/../?q=1#top", "httpVersion": "http/2.0",
                  "headers": [{"name": ":authority", "value": "shop.example"}, {"name": ":method", "value": "GET"},
                              {"name": "accept-encoding", "value": "gzip, deflate, br, zstd"},
                              {"name": "cache-control", "value": "no-cache"},
                              {"name": "accept-language", "value": "de"}],
                  "queryString": [{"name": "q", "value": "1"}], "cookies": [], "headersSize": -1, "bodySize": 0
                },
                "response": {
                  "status": 200, "statusText": "", "httpVersion": "http/2.0",
                  "headers": [{"name": "content-type", "value": "text/html; charset=iso-8859-1"},
                              {"name": "content-encoding", "value": "br"}, {"name": "content-length", "value": "11"},
                              {"name": "etag", "value": "\"abc\""},
                              {"name": "vary", "value": "Accept-Encoding"},
                              {"name": "set-cookie", "value": "a=1\nb=2"}],
                  "cookies": [], "content": {"size": 21, "mimeType": "text/html", "compression": 10, "text": "<p>größe €</p>\n"},
                  "redirectURL": "", "headersSize": -1, "bodySize": -1, "_transferSize": 400, "_error": null
                },
                "timings": {"blocked": 1.1, "dns": -1, "ssl": -1, "connect": -1, "send": 0.1, "wait": 80, "receive": 1, "_blocked_queueing": 0.5}
              },
              {
                "startedDateTime": "2026-11-01T11:00:00+01:00", "time": null,
                "request": {"method": "GET", "url": "https://shop.example/pixel.gif", "headers": []},
                "response": {"status": 200, "headers": [{"name": "Content-Type", "value": "image/gif"}],
                             "content": {"size": 5, "mimeType": "image/gif", "text": "R0lG\nAP8=", "encoding": "base64"}}
              },
              {
                "startedDateTime": "2026-11-01T10:00:00Z",
                "request": {"method": "GET", "url": "https://shop.example/old", "headers": []},
                "response": {"status": 302, "headers": [{"name": "Location", "value": "/pixel.gif"}],
                             "content": {"size": 0, "mimeType": "x-unknown"}, "redirectURL": "/pixel.gif"}
              },
              {
                "startedDateTime": "2026-11-01T10:00:00Z",
                "request": {"method": "GET", "url": "https://shop.example/de", "headers": [{"name": "Accept-Language", "value": "de"}]},
                "response": {"status": 200, "headers": [{"name": "Vary", "value": "Accept-Language, accept-encoding"}],
                             "content": {"size": 2, "text": "de"}}
              },
              {"startedDateTime": "2026-11-01T10:00:00Z",
               "request": {"method": "POST", "url": "https://shop.example/post", "headers": []},
               "response": {"status": 200, "headers": [], "content": {"size": 1, "text": "x"}}},
              {"request": {"method": "GET", "url": "https://shop.example/lost", "headers": []},
               "response": {"status": 200, "headers": [], "content": {"size": 700, "mimeType": "text/css"}}},
              {"request": {"method": "GET", "url": "https://ads.example/blocked", "headers": []},
               "response": {"status": 0, "headers": [], "content": {"size": 0}, "_error": "net::ERR_BLOCKED_BY_CLIENT"}},
              {"request": {"method": "GET", "url": "chrome-extension://abc/x.js", "headers": []},
               "response": {"status": 200, "headers": [], "content": {"size": 1, "text": "x"}}},
              {"request": {"method": "GET", "url": "https://shop.example/same", "headers": []},
               "response": {"status": 304, "headers": [], "content": {"size": 0}}}
            ]
          }
        }
        """#

    private func imported(
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) async throws -> (ResponseCache, ImportReport) {
        let cache = try place.cache()
        var options = ImportOptions()
        options.now = { Date(timeIntervalSince1970: 1_793_610_000) }  // 2026-11-02T09:00:00Z
        change(&options)
        let file = try place.file("chrome.har", Data(Self.chrome.utf8))
        return (cache, try await cache.importRecording(at: file, options: options))
    }

    /// Imports one response, and returns what a load of its URL gets: the body, and the `Content-Type`.
    private func imported(
        type: String,
        _ setContent: (inout HARArchive.Content) -> Void
    ) async throws -> (body: Data, type: String?) {
        let address = "https://shop.example/page"
        var response = HARArchive.Response(status: 200, headers: [HARArchive.Pair("Content-Type", type)])
        setContent(&response.content)
        let request = HARArchive.Request(method: "GET", url: address)
        let archive = HARArchive(entries: [HARArchive.Entry(started: nil, request: request, response: response)])
        let cache = try place.cache()
        #expect(try await cache.importRecording(archive).imported.count == 1)
        let (body, head) = try await offline(cache).data(from: try #require(URL(string: address)))
        return (body, (head as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type"))
    }

    @Test("imports its pages, and reports why others were left out")
    func report() async throws {
        let (cache, report) = try await imported { $0.time = .now }
        #expect(
            report.imported.map(\.url) == [
                "https://shop.example/?q=1", "https://shop.example/pixel.gif", "https://shop.example/old",
                "https://shop.example/de",
            ]
        )
        #expect(
            report.reasons == [
                "/post": "method", "/lost": "noBody", "/blocked": "status", "/x.js": "url", "/same": "status",
            ]
        )
        for (strategy, url) in [
            (CacheStrategy.cacheOnly, "https://shop.example/?q=1"), (.standard, "https://shop.example/./?q=1"),
        ] {
            let target = try #require(URL(string: url))
            let (page, response) = try await offline(cache, strategy).data(from: target)
            #expect(String(decoding: page, as: UTF8.self) == "<p>größe €</p>\n")
            let head = try #require(response as? HTTPURLResponse)
            #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/html; charset=utf-8")
            #expect(head.value(forHTTPHeaderField: "ETag") == "W/\"abc\"")
            #expect(head.value(forHTTPHeaderField: "Content-Encoding") == nil)
            #expect(head.value(forHTTPHeaderField: "Set-Cookie") == nil)
        }
        let moved = try #require(URL(string: "https://shop.example/old"))
        #expect(try await offline(cache).data(from: moved).0 == Data([0x47, 0x49, 0x46, 0, 0xFF]))
    }

    @Test(
        "text that is not ASCII is stored as UTF-8 and says so",
        arguments: [
            ("text/html", "<meta charset=\"windows-1251\">Привет", "text/html; charset=utf-8"),
            ("text/html;", "größe", "text/html; charset=utf-8"),
            ("text/html; Charset=windows-1251", "Привет", "text/html; charset=utf-8"),
            ("application/xhtml+xml", "<p>größe</p>", "application/xhtml+xml; charset=utf-8"),
            ("Application/XML", "<p>größe</p>", "Application/XML; charset=utf-8"),
            ("application/javascript", "'größe'", "application/javascript; charset=utf-8"),
            ("text/html", "ASCII", "text/html"), ("application/json", "[\"größe\"]", "application/json"),
        ]
    )
    func charset(type: String, text: String, expected: String) async throws {
        let page = try await imported(type: type) { $0.text = text }
        #expect(page.body == Data(text.utf8))
        #expect(page.type == expected)
    }

    @Test("bytes keep the encoding that their type names", arguments: ["text/html", "text/plain; charset=iso-8859-1"])
    func bytes(type: String) async throws {
        for (text, encoding) in [("Z3L8bg==", "base64"), ("6772fc6e", nil)] {
            let page = try await imported(type: type) {
                $0.text = text
                $0.encoding = encoding
                $0.isBinary = encoding == nil
            }
            #expect(page.body == Data([0x67, 0x72, 0xFC, 0x6E]))
            #expect(page.type == type)
        }
    }

    @Test("a response with Vary answers requests with the same fields, or all requests if the caller allows it")
    func variants() async throws {
        var same = URLRequest(url: try #require(URL(string: "https://shop.example/de")))
        same.setValue("de", forHTTPHeaderField: "Accept-Language")
        var other = same
        other.setValue("fr", forHTTPHeaderField: "Accept-Language")
        let strict = try offline(try await imported { $0.time = .now }.0)
        #expect(try await strict.data(for: same).0 == Data("de".utf8))
        await #expect(throws: URLError.self) { try await strict.data(for: other) }
        let loose = try offline(
            try await imported {
                $0.time = .now
                $0.ignoresVary = true
            }.0
        )
        #expect(try await loose.data(for: other).0 == Data("de".utf8))
    }

    @Test("responses count as received when they were recorded, and those that are too old are left out")
    func times() async throws {
        let recorded = try await imported().1
        #expect(recorded.imported.count == 4)
        let late = try await imported { $0.now = { Date(timeIntervalSince1970: 1_797_000_000) } }.1
        #expect(late.imported.isEmpty)
        #expect(late.reasons["/pixel.gif"] == "tooOld")
    }

    @Test("is read and written again without loss")
    func roundTrip() throws {
        let archive = try HARArchive(Data(Self.chrome.utf8))
        #expect(archive.creator == .init(name: "WebInspector", version: "537.36"))
        #expect(archive.entries.count == 9)
        #expect(archive.entries[1].started == archive.entries[2].started)
        #expect(archive.entries[0].timings.ssl == -1)
        #expect(archive.entries[0].timings.wait == 80)
        var dated = archive
        // An entry without a time is written with one.
        for index in dated.entries.indices where dated.entries[index].started == nil {
            dated.entries[index].started = Date(timeIntervalSince1970: 0)
        }
        let file = place.file("again.har")
        try archive.write(to: file)
        #expect(try HARArchive(contentsOf: file) == dated)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.path) == ["again.har"])
    }
}
