import HTTPTypes
import Testing

@testable import Waystation

@Suite("Stored header fields")
struct StoredFieldsTests {
    @Test("have no fields of the transfer")
    func transfer() {
        let fields = StoredFields.normalized([
            "Connection": "close, X-Hop", "x-hop": "1", "Keep-Alive": "timeout=5", "transfer-encoding": "chunked",
            "TE": "trailers", "Trailer": "Expires", "Upgrade": "h2c", "Proxy-Connection": "close",
            "Proxy-Authenticate": "Basic", "Content-Length": "12", "Set-Cookie": "a=b", "Cache-Status": "Edge; hit",
            "Content-Type": "text/html", "X-Kept": "1",
        ])
        #expect(fields.dictionary == ["Content-Type": "text/html", "X-Kept": "1"])
    }

    @Test("of a decoded body have no content coding, and a strong validator becomes weak", arguments: ["gzip", "BR"])
    func coded(coding: String) {
        let fields = StoredFields.normalized(["Content-Encoding": coding, "ETag": "\"a\"", "Vary": "Accept-Encoding"])
        #expect(fields.dictionary == ["ETag": "W/\"a\"", "Vary": "Accept-Encoding"])
        #expect(StoredFields.normalized(["content-encoding": coding, "etag": "W/\"a\""])[.eTag] == "W/\"a\"")
    }

    @Test("of a body without a coding keep its validator")
    func plain() {
        #expect(StoredFields.normalized(["ETag": "\"a\""])[.eTag] == "\"a\"")
        #expect(StoredFields.normalized(["ETag": "\"a\"", "Content-Encoding": "identity"])[.eTag] == "\"a\"")
    }
}
