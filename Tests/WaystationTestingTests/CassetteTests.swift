import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

/// Recordings in the forms that other programs write.
///
/// Each form was compared with the source of its program, and those of Polly.js with the recordings in its repository.
@Suite(.timeLimit(.minutes(10)))
struct CassetteTests {
    private let folder = RecordingFolder()

    private func session(_ cassette: String, matching parts: [RecordedPart] = [.method, .url]) throws -> URLSession {
        try Data(cassette.utf8).write(to: folder.file)
        return try folder.recording(matching: parts, network: .unreachable).makeSession()
    }

    @Test func `a cassette of Replay replays`() async throws {
        let session = try session(cassetteOfReplay)
        let (text, response) = try await session.load("https://example.com/fruits.json")
        #expect(text == #"["apple","banana"]"#)
        #expect(response.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(response.value(forHTTPHeaderField: "Content-Encoding") == nil)
        let image = try #require(URL(string: "https://example.com/pixel"))
        #expect(try await session.data(from: image).0 == Data([0x89, 0x50, 0x4E, 0x47]))
    }

    @Test func `a query item that a filter of Replay removed is left out of the comparison`() async throws {
        let session = try session(cassetteOfReplay, matching: [.method, .url(without: ["api_key"])])
        #expect(try await session.load("https://example.com/fruits.json?api_key=7").text == #"["apple","banana"]"#)
    }

    @Test func `a cassette of Polly replays, with its order, its binary bodies and its content codings`() async throws {
        let session = try session(cassetteOfPolly)
        #expect(try await session.load("https://api.example/posts").text == "first")
        #expect(try await session.load("https://api.example/posts").text == "second")
        let pixel = try #require(URL(string: "https://api.example/pixel"))
        #expect(try await session.data(from: pixel).0 == Data([0x89, 0x50, 0x4E, 0x47]))
        #expect(try await session.load("https://api.example/packed").text == "hello")
    }

    @Test(.enabled(if: dlopen("libbrotlidec.so.1", RTLD_NOW) != nil))
    func `a cassette of Polly replays bodies in Brotli where its library is installed`() async throws {
        for (body, text) in [
            (EncodedBodies.textBrotli, EncodedBodies.text), (EncodedBodies.textBrotli.dropLast(), nil),
        ] {
            // Polly writes one text for each part that arrived.
            let parts = [body.prefix(7), body.dropFirst(7)].map { #"\"\#(Data($0).base64EncodedString())\""# }
            let session = try session(
                #"""
                {"log":{"_recordingName":"packed","version":"1.2","creator":{"name":"Polly.JS","version":"6.0.5"},"entries":[
                  {"_id":"ab12","_order":0,"cache":{},"startedDateTime":"2024-01-01T00:00:00.000Z","time":3,
                   "request":{"method":"GET","url":"https://api.example/packed","headers":[],"cookies":[],"queryString":[]},
                   "response":{"status":200,"headers":[{"name":"content-encoding","value":"br"}],"cookies":[],
                     "content":{"mimeType":"text/plain","size":25,"_isBinary":true,"encoding":"base64",
                       "text":"[\#(parts.joined(separator: ","))]"}}}]}}
                """#
            )
            let url = try #require(URL(string: "https://api.example/packed"))
            let found = try? await session.data(from: url).0
            #expect(found == text)
        }
    }

    @Test func `a body that Polly recorded in a browser is text, whatever coding its fields name`() async throws {
        let (text, response) = try await session(cassetteOfPolly).load("https://api.example/browser")
        #expect(text == "decoded by the browser")
        #expect(response.value(forHTTPHeaderField: "Content-Encoding") == nil)
        #expect(response.value(forHTTPHeaderField: "Content-Length") == "22")
    }

    @Test func `a cassette of Polly 1 replays: unmarked bytes, and fields with arrays of values`() async throws {
        let session = try session(cassetteOfPolly1)
        let (text, response) = try await session.load("https://api.example/old")
        #expect(text == "hello")
        #expect(response.value(forHTTPHeaderField: "Set-Cookie") == "a=1; Path=/, b=2; Path=/")
        // JSON that only looks like such bytes stays what it is.
        #expect(try await session.load("https://api.example/list").text == #"["ab","cd"]"#)
    }
}

/// A recording in the form of Replay: bodies as text, with the fields that the server sent.
let cassetteOfReplay = #"""
    {"log":{"version":"1.2","creator":{"name":"Replay","version":"0.1.0"},"entries":[{
      "startedDateTime":"2025-12-18T09:01:02.123Z","time":45,"cache":{},"timings":{"send":0,"wait":45,"receive":0},
      "request":{"method":"GET","url":"https://example.com/fruits.json","httpVersion":"HTTP/1.1","cookies":[],
        "headers":[],"queryString":[],"headersSize":-1,"bodySize":0},
      "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","cookies":[],
        "headers":[{"name":"Content-Type","value":"application/json"},{"name":"Content-Encoding","value":"gzip"},
          {"name":"Content-Length","value":"9"}],
        "content":{"size":18,"mimeType":"application/json","text":"[\"apple\",\"banana\"]"},
        "redirectURL":"","headersSize":-1,"bodySize":9}},
     {"startedDateTime":"2025-12-18T09:01:03.000Z","time":45,"cache":{},"timings":{"send":0,"wait":45,"receive":0},
      "request":{"method":"GET","url":"https://example.com/pixel","httpVersion":"HTTP/1.1","cookies":[],
        "headers":[],"queryString":[],"headersSize":-1,"bodySize":0},
      "response":{"status":200,"statusText":"no error","httpVersion":"HTTP/1.1","cookies":[],
        "headers":[{"name":"Content-Type","value":"image/png"}],
        "content":{"size":4,"mimeType":"image/png","encoding":"base64","text":"iVBORw=="},
        "redirectURL":"","headersSize":-1,"bodySize":4}}]}}
    """#

/// A recording in the form of Polly.js: `_order` counts equal requests, bytes are hexadecimal or Base64 digits.
private let cassetteOfPolly = #"""
    {"log":{"_recordingName":"posts","version":"1.2","creator":{"name":"Polly.JS","version":"6.0.5"},"entries":[
      {"_id":"ab12","_order":1,"cache":{},"startedDateTime":"2024-01-01T00:00:00.000Z","time":3,
       "request":{"method":"GET","url":"https://api.example/posts","headers":[],"cookies":[],"queryString":[]},
       "response":{"status":200,"headers":[],"cookies":[],"content":{"mimeType":"text/plain","size":6,"text":"second"}}},
      {"_id":"ab12","_order":0,"cache":{},"startedDateTime":"2024-01-01T00:00:00.000Z","time":3,
       "request":{"method":"GET","url":"https://api.example/posts","headers":[],"cookies":[],"queryString":[]},
       "response":{"status":200,"headers":[],"cookies":[],"content":{"mimeType":"text/plain","size":5,"text":"first"}}},
      {"_id":"cd34","_order":0,"cache":{},"startedDateTime":"2024-01-01T00:00:01.000Z","time":3,
       "request":{"method":"GET","url":"https://api.example/pixel","headers":[],"cookies":[],"queryString":[]},
       "response":{"status":200,"headers":[],"cookies":[],
         "content":{"mimeType":"image/png","size":4,"_isBinary":true,"text":"89504e47"}}},
      {"_id":"ef56","_order":0,"cache":{},"startedDateTime":"2024-01-01T00:00:02.000Z","time":3,
       "request":{"method":"GET","url":"https://api.example/packed","headers":[],"cookies":[],"queryString":[]},
       "response":{"status":200,"headers":[{"name":"content-encoding","value":"gzip"}],"cookies":[],
         "content":{"mimeType":"text/plain","size":25,"_isBinary":true,"encoding":"base64",
           "text":"[\"H4sIAAAAAAACA8tI\",\"zcnJBwCGphA2BQAAAA==\"]"}}},
      {"_id":"0a1b","_order":0,"cache":{},"startedDateTime":"2024-01-01T00:00:03.000Z","time":3,
       "request":{"method":"GET","url":"https://api.example/browser","headers":[],"cookies":[],"queryString":[],
         "postData":{"mimeType":"application/json","params":[]}},
       "response":{"status":200,"headers":[{"name":"content-encoding","value":"br"},
           {"name":"content-length","value":"17"}],"cookies":[],
         "content":{"mimeType":"text/plain","size":17,"text":"decoded by the browser"}}}]}}
    """#

/// A recording in the form of Polly.js 1: coded bytes have no mark, and a field may have an array of values.
private let cassetteOfPolly1 = #"""
    {"log":{"_recordingName":"old","version":"1.2","creator":{"name":"Polly.JS","version":"1.4.1"},"entries":[
      {"_id":"ab12","_order":0,"cache":{},"startedDateTime":"2019-01-10T21:41:11.992Z","time":3,
       "request":{"method":"GET","url":"https://api.example/old","headers":[],"cookies":[],"queryString":[],
         "postData":{"mimeType":"text/plain","params":[]}},
       "response":{"status":200,"headers":[{"name":"content-encoding","value":"gzip"},
           {"name":"set-cookie","value":["a=1; Path=/","b=2; Path=/"]}],"cookies":[],
         "content":{"mimeType":"text/plain","size":52,
           "text":"[\"1f8b0800000000000203cb48\",\"cdc9c9070086a6103605000000\"]"}}},
      {"_id":"cd34","_order":0,"cache":{},"startedDateTime":"2019-01-10T21:41:12.992Z","time":3,
       "request":{"method":"GET","url":"https://api.example/list","headers":[],"cookies":[],"queryString":[]},
       "response":{"status":200,"headers":[{"name":"content-encoding","value":"gzip"}],"cookies":[],
         "content":{"mimeType":"application/json","size":11,"text":"[\"ab\",\"cd\"]"}}}]}}
    """#
