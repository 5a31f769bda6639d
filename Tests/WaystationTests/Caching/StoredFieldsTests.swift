import HTTPTypes
import Testing

@testable import Waystation

@Suite("Fields as they are stored")
struct StoredFieldsTests {
    @Test("what described the transfer is left out")
    func transfer() {
        let fields = StoredFields.normalized([
            "Connection": "close, X-Hop", "x-hop": "1", "Keep-Alive": "timeout=5", "transfer-encoding": "chunked",
            "TE": "trailers", "Trailer": "Expires", "Upgrade": "h2c", "Proxy-Connection": "close",
            "Proxy-Authenticate": "Basic", "Content-Length": "12", "Set-Cookie": "a=b", "Cache-Status": "Edge; hit",
            "Content-Type": "text/html", "X-Kept": "1",
        ])
        #expect(fields.dictionary == ["Content-Type": "text/html", "X-Kept": "1"])
    }

    @Test("a coded body was decoded: its coding goes, and a strong validator becomes weak", arguments: ["gzip", "BR"])
    func coded(coding: String) {
        let fields = StoredFields.normalized(["Content-Encoding": coding, "ETag": "\"a\"", "Vary": "Accept-Encoding"])
        #expect(fields.dictionary == ["ETag": "W/\"a\"", "Vary": "Accept-Encoding"])
        #expect(StoredFields.normalized(["content-encoding": coding, "etag": "W/\"a\""])[.eTag] == "W/\"a\"")
    }

    @Test("a body without a coding keeps its validator")
    func plain() {
        #expect(StoredFields.normalized(["ETag": "\"a\""])[.eTag] == "\"a\"")
        #expect(StoredFields.normalized(["ETag": "\"a\"", "Content-Encoding": "identity"])[.eTag] == "\"a\"")
    }
}
