import Foundation
import FoundationNetworking
import HTTPTypes
import Testing

@testable import Waystation

@Suite("Header fields from and to Foundation's dictionaries")
struct HTTPFieldsFromFoundationTests {
    @Test(
        "a field whose value has a line end or a NUL is left out",
        arguments: ["a\r\nSet-Cookie: b=c", "a\nb", "a\rb", "a\0b", "\r\n"]
    )
    func injectedValue(value: String) {
        #expect(HTTPFields(["X-Evil": value, "X-Good": "1"]).dictionary == ["X-Good": "1"])
    }

    @Test("a field with an invalid name is left out", arguments: ["X-Evil\r\nX-More", "X Evil", "X:Evil", "", "X-É"])
    func injectedName(name: String) {
        #expect(HTTPFields([name: "1", "X-Good": "1"]).dictionary == ["X-Good": "1"])
    }

    @Test("a valid field keeps the spelling of its name, and is found by any spelling")
    func roundTrip() {
        let dictionary = ["ETag": "\"a\"", "x-lower": "ü, b", "Empty": ""]
        let fields = HTTPFields(dictionary)
        #expect(fields.dictionary == dictionary)
        #expect(fields[.eTag] == "\"a\"")
        #expect(HTTPFields(["etag": "1"])[.eTag] == "1")
    }

    @Test("a value loses the spaces and tabs around it, and no other space")
    func space() {
        #expect(HTTPFields(["X-A": " \ta b\t "]).dictionary == ["X-A": "a b"])
        #expect(HTTPFields(["X-A": "\u{A0}a\u{2003}"]).dictionary == ["X-A": "\u{A0}a\u{2003}"])
    }

    @Test("repeated fields are joined with commas, as Foundation does")
    func repeated() throws {
        let name = try #require(HTTPField.Name("X-List"))
        var fields = HTTPFields()
        for value in ["1", "2", "3"] { fields.append(HTTPField(name: name, value: value)) }
        #expect(fields.dictionary == ["X-List": "1, 2, 3"])
    }

    @Test("the conditions of a request take the place of those that it has, however these are spelled")
    func conditions() throws {
        var request = URLRequest(url: try #require(URL(string: "https://a.example/")))
        request.allHTTPHeaderFields = ["if-none-match": "\"old\"", "IF-MODIFIED-SINCE": "yesterday", "Accept": "*/*"]
        let conditional = HTTPRequest(
            method: .get,
            scheme: "https",
            authority: "a.example",
            path: "/",
            headerFields: [.ifNoneMatch: "\"new\""]
        )
        let fields = request.taking(conditionsOf: conditional).allHTTPHeaderFields
        #expect(fields == ["If-None-Match": "\"new\"", "Accept": "*/*"])
    }
}
