import Foundation
import FoundationNetworking
import Testing

@testable import Waystation

/// `isUsed()` fails when a toolchain changes the properties that `KnownResponses` sets.
///
/// Until `KnownResponses` is adapted, Foundation makes the responses, and loads take longer.
@Suite("Responses with known field names and media types")
struct KnownResponsesTests {
    @Test("are made on this toolchain")
    func isUsed() { #expect(KnownResponses.shared.isUsed) }

    @Test("equal the ones that Foundation makes, the first time and later", arguments: heads)
    func same(fields: [String: String]) throws {
        let url = try #require(URL(string: "http://a.example/path?query#fragment"))
        for _ in 0..<2 {
            let made = try #require(KnownResponses.shared.response(url, 203, fields))
            let model = try #require(KnownResponses.original(url, 203, fields))
            #expect(made.url == model.url)
            #expect(made.statusCode == model.statusCode)
            #expect(made.allHeaderFields as? [String: String] == model.allHeaderFields as? [String: String])
            #expect(made.mimeType == model.mimeType)
            #expect(made.textEncodingName == model.textEncodingName)
            #expect(made.expectedContentLength == model.expectedContentLength)
            #expect(made.suggestedFilename == model.suggestedFilename)
            for name in fields.keys {
                #expect(made.value(forHTTPHeaderField: name) == model.value(forHTTPHeaderField: name))
            }
        }
    }

    private static let heads: [[String: String]] =
        [
            [:],
            ["Content-Type": "text/plain", "Content-Length": "16384", "ETag": "\"a\"", "x-own": "1", "X-Own-2": "2"],
            ["content-type": "Text/HTML; Charset=UTF-8", "DATE": "Tue, 24 Nov 2026 09:00:00 GMT", "p3p": " spaced "],
            ["Content-Disposition": "attachment; filename=\"a.txt\"", "Content-Type": "text/plain"],
            ["content-disposition": "inline; filename=b", "Content-Length": "3"],
            ["www-authenticate": "Basic realm=\"a\"", "Set-Cookie": "a=b", "Cache-Status": "Waystation; hit"],
            ["": "nameless", "a_b": "1", "a.b-c": "2", "1a": "3", "\u{e4}-b": "4", "x-": "5", "X-MiXed": "6"],
            ["Location": "/next", "Content-Encoding": "gzip", "Vary": "*", "Last-Modified": ""],
        ]
        + ["", "5", "+5", "-1", " 5", "5, 5", "0x5", "99999999999999999999", "5.0", "\u{665}"].map {
            ["Content-Length": $0]
        }
        + ["", ";", "text", "text/html;charset", "TEXT/html; charset=\"utf-8\"", "a/b; c=d; charset=x", " a/b "].map {
            ["Content-Type": $0]
        }

    @Test("are Foundation's for two spellings of one name")
    func twoSpellings() throws {
        let fields = ["Content-Type": "text/a", "content-type": "text/b"]
        let response = try #require(KnownResponses.shared.response(URL(fileURLWithPath: "/"), 200, fields))
        #expect(["text/a", "text/b"].contains(response.mimeType))
        #expect(response.allHeaderFields.count == 1)
    }

    @Test("are Foundation's if a property is not found")
    func notFound() throws {
        #expect(KnownResponses.Layout(fields: "allHeaderFields") == nil)
        let responses = KnownResponses(nil)
        #expect(!responses.isUsed)
        let response = try #require(responses.response(URL(fileURLWithPath: "/"), 200, ["etag": "\"a\""]))
        #expect(response.allHeaderFields as? [String: String] == ["Etag": "\"a\""])
    }

    @Test("are independent of each other")
    func independent() throws {
        let url = URL(fileURLWithPath: "/")
        let responses = try (0..<1_000).map {
            try #require(KnownResponses.shared.response(url, 200, ["Content-Length": "\($0)", "n\($0)": "\($0)"]))
        }
        for (number, response) in responses.enumerated() {
            #expect(response.expectedContentLength == Int64(number))
            #expect(response.value(forHTTPHeaderField: "N\(number)") == "\(number)")
        }
    }
}
