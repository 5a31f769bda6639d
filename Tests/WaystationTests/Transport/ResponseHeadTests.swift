import Foundation
import FoundationNetworking
import HTTPTypes
import Testing
import Waystation
import WaystationHTTP

@Suite("The head of a response")
struct ResponseHeadTests {
    private let fields = ["Content-Type": "text/plain", "cache-status": "Origin; hit"]

    /// The same head in both forms.
    private func heads() throws -> [ResponseHead] {
        [try .head(203, fields), ResponseHead(try .head(203, fields))]
    }

    @Test("has the same values, whether it is made of its parts or of Foundation's response")
    func values() throws {
        for head in try heads() {
            #expect(head.statusCode == 203)
            #expect(head.url?.absoluteString == "https://a.example/x")
            #expect(head.value(forHTTPHeaderField: "CONTENT-TYPE") == "text/plain")
            #expect(head.value(forHTTPHeaderField: "Content-Typ") == nil)
            let response = try #require(head.response)
            #expect(response.statusCode == 203 && response.url == head.url)
            #expect(response.value(forHTTPHeaderField: "content-type") == "text/plain")
        }
    }

    @Test("is made into Foundation's response once for all of its copies, and not for another head")
    func identity() throws {
        for head in try heads() {
            let copy = head
            let made = try #require(head.response)
            #expect(made === copy.response)
            #expect(made === head.response)
            #expect(ObjectIdentifier(head.identity) == ObjectIdentifier(copy.identity))
            let other = head.setting("A", to: "b")
            #expect(other.response !== head.response)
            #expect(ObjectIdentifier(other.identity) != ObjectIdentifier(head.identity))
        }
    }

    @Test("is a message with the same fields, and with each `Set-Cookie` field apart if they are known")
    func message() throws {
        for head in try heads() {
            #expect(head.message.status.code == 203)
            #expect(head.message.headerFields[.contentType] == "text/plain")
        }
        let url = try #require(URL(string: "https://a.example/"))
        let fields = ["Set-Cookie": "a=1, b=2", "Content-Type": "text/plain"]
        let known = ResponseHead(url: url, statusCode: 200, fields: fields, setCookieFields: ["a=1", "b=2"])
        #expect(known.message.headerFields[values: .setCookie] == ["a=1", "b=2"])
        #expect(known.message.headerFields[.contentType] == "text/plain")
        let joined = ResponseHead(url: url, statusCode: 200, fields: fields)
        #expect(joined.message.headerFields[values: .setCookie] == ["a=1, b=2"])
    }

    @Test("shows a value that is not UTF-8 as ISO 8859-1, and keeps its bytes")
    func bytes() throws {
        let tag = FieldText.text(of: [0x22, 0xE9, 0x22])
        let values = try ResponseHead.head(200, ["ETag": tag])
        let response = ResponseHead(try #require(values.response))
        for head in [values, response] {
            for head in [head, head.setting("A", to: "b"), head.with(try #require(head.url))] {
                #expect(head.value(forHTTPHeaderField: "etag") == "\"\u{E9}\"")
                #expect(head.fields.values.contains("\"\u{E9}\""))
                #expect(head.response?.value(forHTTPHeaderField: "ETag") == "\"\u{E9}\"")
                #expect(head.rawValue(forHTTPHeaderField: "etag") == tag)
                #expect(head.rawFields.values.contains(tag))
            }
        }
    }

    @Test("has one value of a field that is set, whatever the case of its name was")
    func setting() throws {
        for head in try heads() {
            let changed = head.setting("Cache-Status", to: "Origin; hit, Waystation; hit")
            #expect(changed.fields.filter { $0.key.lowercased() == "cache-status" }.count == 1)
            #expect(
                changed.response?.value(forHTTPHeaderField: "Cache-Status") == "Origin; hit, Waystation; hit"
            )
            #expect(head.value(forHTTPHeaderField: "Cache-Status") == "Origin; hit")
        }
    }

    @Test("keeps all but its URL when it gets another one")
    func otherURL() throws {
        let url = try #require(URL(string: "https://a.example/written/../x"))
        for head in try heads() {
            let other = head.with(url)
            #expect(other.url == url && other.statusCode == 203 && other.fields == head.fields)
        }
    }
}
