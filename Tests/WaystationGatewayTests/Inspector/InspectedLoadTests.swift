#if Gateway
import Foundation
import FoundationNetworking
import NIOHTTP1
import Testing
import WaystationRecording
import WaystationTestSupport
import WaystationTesting

@testable import Waystation
@testable import WaystationGateway

@Suite("A load in the inspector", .timeLimit(.minutes(10)))
struct InspectedLoadTests {
    @Test("is shown as cancelled when the browser leaves before its end")
    func cancelled() async throws {
        let inspected = try await InspectorFixture()
        let connection = try RawConnection(inspected.fixture.port)
        connection.send("GET /never HTTP/1.1\r\nHost: \(inspected.name)\r\n\r\n")
        _ = await inspected.origin.waitForRequests(1)
        connection.leave()
        try #require(try await eventually { try await inspected.ask("/api/load?id=1").status == 200 })
        let load = try await inspected.load(1)
        #expect(load["load"]["isCancelled"] == true)
        #expect(load["load"]["rule"] == 3)
        #expect(load["load"]["error"].string == nil)
        #expect(load["reasons"].elements.last == "The browser or the app cancelled the load before its end.")
    }

    @Test("is shown with the reason when the gateway refused its request, without secrets")
    func refused() async throws {
        let inspected = try await InspectorFixture()
        let response = try await inspected.fixture.get(
            "/a?token=refused-secret",
            host: "other-example.localhost:\(inspected.fixture.port)",
            ["Cookie: a=refused-secret"]
        )
        #expect(response.status == 403)
        #expect(try await inspected.fixture.get("/", host: "evil.example").status == 421)
        let load = try await inspected.load(1)
        #expect(load["load"]["status"] == 403)
        #expect(load["load"]["method"] == "GET")
        #expect(load["load"]["refusal"].string?.hasPrefix("No rule takes https://other.example/a?token=") == true)
        #expect(load["reasons"] == ["The gateway refused the request, so no load began."])
        #expect(load["next"] == .null)
        #expect(load["preview"]["text"] == "The gateway sent the reason of its refusal.")
        #expect(try await inspected.load(2)["load"]["url"] == "http://evil.example/")
        #expect(try await !inspected.ask("/api/load?id=1").text.contains("-secret"))
    }

    @Test("is not shown for a client that leaves within its request")
    func left() async throws {
        let inspected = try await InspectorFixture()
        let upload = "POST / HTTP/1.1\r\nHost: \(inspected.fixture.shop)\r\nContent-Length: 9\r\n\r\na"
        for beginning in ["GET / HTTP/1.1\r\nHost: a", upload] {
            let connection = try RawConnection(inspected.fixture.port)
            connection.send(beginning)
            connection.endSending()
            _ = await connection.read()
        }
        #expect(try await inspected.fixture.get("/", host: "evil.example").status == 421)
        #expect(try await inspected.load(1)["load"]["url"] == "http://evil.example/")
    }

    @Test("is shown when a rule refuses a web socket")
    func refusedWebSocket() async throws {
        let inspected = try await InspectorFixture()
        let lines = [
            "GET /socket HTTP/1.1", "Host: ads-example.localhost:\(inspected.fixture.port)", "Connection: Upgrade",
            "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: a", "", "",
        ]
        let response = try await inspected.fixture.send(lines.joined(separator: "\r\n"))
        let load = try await inspected.load(1)["load"]
        #expect(load["url"].string?.hasSuffix("/socket") == true)
        #expect(load["refusal"].string?.isEmpty == false)
        #expect(load["status"] == .number(Double(response.status)))
    }

    @Test("is shown when there is no connection to the host of a tunnel")
    func failedTunnel() async throws {
        let inspected = try await InspectorFixture(isProxy: true)
        let origin = try ScriptedOrigin { _ in .ok() }
        defer { withExtendedLifetime(origin) {} }
        origin.stop()
        let authority = "127.0.0.1:\(origin.port)"
        let response = try await inspected.fixture.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        let load = try await inspected.load(1)["load"]
        #expect(load["url"] == .string("https://\(authority)"))
        #expect(load["method"] == "CONNECT")
        #expect(load["status"] == 502 && response.status == 502)
        #expect(load["refusal"].string?.hasPrefix("No connection to \(authority)") == true)
    }

    @Test("has the scheme of its connection when the gateway refused its request")
    func refusedScheme() throws {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/a")
        head.headers.add(name: "Host", value: "shop.example")
        for (isSecured, url) in [(true, "https://shop.example/a"), (false, "http://shop.example/a")] {
            let exchange = RecordedExchange(.stopping, to: head, isSecured: isSecured, at: Date())
            #expect(exchange?.request.url?.absoluteString == url)
        }
        let connect = HTTPRequestHead(version: .http1_1, method: .CONNECT, uri: "shop.example:443")
        let exchange = RecordedExchange(.stopping, to: connect, isSecured: false, at: Date())
        #expect(exchange?.request.url?.absoluteString == "https://shop.example:443")
    }

    @Test("has the beginning of its body by type: text, JSON without secrets, a picture")
    func bodies() async throws {
        let inspected = try await InspectorFixture()
        let paths = [
            "/data.json", "/page.html", "/long.txt", "/picture", "/film", "/oauth", "/text.json", "/large-picture",
        ]
        for path in paths {
            _ = try await inspected.fixture.get(path, host: inspected.name)
        }
        let json = try await inspected.load(1)["preview"]
        #expect(json["kind"] == "json")
        #expect(json["text"].string?.contains("[redacted]") == true)
        #expect(json["text"].string?.contains("secret") == false)
        #expect(try await inspected.load(2)["preview"] == ["kind": "text", "text": "<b>bold</b>", "isCut": false])
        let long = try await inspected.load(3)["preview"]
        #expect(long["text"].string?.utf8.count == 32 << 10)
        #expect(long["isCut"] == true)
        #expect(try await inspected.load(4)["preview"]["kind"] == "image")
        let picture = try await inspected.ask("/api/image?id=4")
        #expect(picture.body == InspectorFixture.picture)
        #expect(picture["Content-Type"] == "image/png")
        let film = try await inspected.load(5)["preview"]
        #expect(film == ["kind": "none", "text": "The type is video/mp4, so there is no preview.", "isCut": false])
        for number in [6, 7] {
            let text = try await inspected.load(number)["preview"]["text"].string ?? ""
            #expect(text.contains("redacted") && text.contains("scope") && !text.contains("body-secret"))
        }
        let large = try await inspected.load(8)["preview"]
        #expect(large["text"] == "Only the first 32768 bytes of the picture are kept.")
        #expect(try await inspected.ask("/api/image?id=8").status == 404)
        // A page is not sent as a picture.
        #expect(try await inspected.ask("/api/image?id=2").status == 404)
        #expect(try await inspected.ask("/api/image?id=5").status == 404)
        let har = try JSONDecoder().decode(HARArchive.self, from: try await inspected.ask("/api/loads.har").body)
        #expect(har.entries.count == paths.count)
        #expect(har.entries.allSatisfy { ($0.response.content.text ?? "").isEmpty })
    }

    @Test("has the answer that the same request would get now")
    func next() async throws {
        let inspected = try await InspectorFixture()
        _ = try await inspected.fixture.get("/kept", host: inspected.name)
        _ = try await inspected.fixture.get("/", host: "pack-example.localhost:\(inspected.fixture.port)")
        _ = try await inspected.fixture.get("/")
        _ = try await inspected.fixture.get("/kept", host: inspected.name, method: "POST")
        let count = inspected.origin.requestCount
        #expect(try await inspected.load(2)["next"] == "An installed pack answers the request with the status 200.")
        #expect(
            try await inspected.load(3)["next"] == "The directory of the rule answers the request with the status 200."
        )
        // The POST made the stored response unusable (RFC 9111 §4.4).
        #expect(
            try await inspected.load(1)["next"] == "Nothing is stored for the URL: the request goes to the origin."
        )
        _ = try await inspected.fixture.get("/kept", host: inspected.name)
        #expect(
            try await inspected.load(1)["next"]
                == "The cache answers the request with the status 200, without the network."
        )
        #expect(inspected.origin.requestCount == count + 1)
        let target = "/api/decision?method=GET&url=https%3A%2F%2Fpack.example%2Fmissing"
        let decision = try JSONDecoder().decode(JSONValue.self, from: try await inspected.ask(target).body)
        #expect(decision["next"].string?.hasPrefix("It fails: ") == true)
    }

    @Test("is separate from the events of the packs, which have a list of their own")
    func events() async throws {
        let inspected = try await InspectorFixture()
        _ = try await inspected.ask("/api/rollback?module=shop&version=1.1", method: "POST")
        var event: JSONValue?
        let isListed = try await eventually {
            let body = try await inspected.ask("/api/events").body
            let events = try JSONDecoder().decode(JSONValue.self, from: body).elements
            event = events.first { $0["text"].string?.contains("rolled back in the inspector") == true }
            return event != nil
        }
        #expect(isListed)
        #expect(event?["isTrouble"] == true)
    }
}

@Suite("The log of an inspector's events")
struct EventLogTests {
    @Test("keeps the last 500 that do not end a load, without the URL of the load and without secrets")
    func bound() throws {
        let log = EventLog()
        let url = URL(string: "https://shop.example/?token=secret")
        for number in 0..<600 {
            log.add(
                LoadEvent(kind: .degraded("https://shop.example/?token=secret \(number)"), url: url),
                at: Date(timeIntervalSince1970: 0)
            )
            log.add(LoadEvent(kind: .cancelled, url: url), at: Date(timeIntervalSince1970: 0))
        }
        #expect(log.latest.count == 500)
        #expect(log.latest.first?.text == "degraded: https://shop.example/?token=%5Bredacted%5D 599")
        #expect(log.latest.first?.isTrouble == true)
    }
}
#endif
