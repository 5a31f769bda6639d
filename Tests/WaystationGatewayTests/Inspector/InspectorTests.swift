#if Gateway
import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationGateway
import WaystationRecording
import WaystationTestSupport
import WaystationTesting

@Suite("The inspector of a gateway", .timeLimit(.minutes(10)))
struct InspectorTests {
    @Test("opens by the URL with its secret, and by nothing else")
    func secret() async throws {
        let inspected = try await InspectorFixture()
        let (fixture, host) = (inspected.fixture, inspected.host)
        let url = try inspected.url
        #expect(url.absoluteString.hasPrefix("http://\(host)/?key="))
        #expect(try #require(url.query()).count >= 4 + 32)
        let entry = try await fixture.get("/?\(try #require(url.query()))", host: host)
        #expect(entry.status == 303)
        #expect(entry["Location"] == "/")
        let cookie = try #require(entry["Set-Cookie"])
        #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Lax"))
        let pair = String(cookie.prefix { $0 != ";" })
        let page = try await fixture.get("/", host: host, ["Cookie: a=b; \(pair)"])
        #expect(page.status == 200)
        #expect(page["Content-Type"] == "text/html; charset=utf-8")
        for fields in [[], ["Cookie: \(pair)x"], ["Cookie: \(pair.dropLast())"], ["Cookie: x\(pair)"]] {
            let refused = try await fixture.get("/api/rules", host: host, fields)
            #expect(refused.status == 403)
            #expect(refused.text.contains("Gateway.inspectorURL"))
        }
        #expect(try await fixture.get("/?key=0000", host: host).status == 403)
        let other = try await InspectorFixture()
        #expect(try other.url.query() != url.query())
    }

    @Test(
        "lets no other page contain, read or run anything of it",
        arguments: ["/", "/inspector.js", "/api/rules", "/api/none", "/?key=wrong"]
    )
    func protection(target: String) async throws {
        let inspected = try await InspectorFixture()
        let response = try await inspected.ask(target)
        let policy = try #require(response["Content-Security-Policy"])
        #expect(policy.contains("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe"))
        #expect(response["X-Content-Type-Options"] == "nosniff")
        #expect(response["Referrer-Policy"] == "no-referrer")
        #expect(response["Cache-Control"] == "no-store")
        #expect(response["Cross-Origin-Opener-Policy"] == "same-origin")
        #expect(response["Cross-Origin-Resource-Policy"] == "same-origin")
        #expect(response.fields.allSatisfy { !$0.name.lowercased().hasPrefix("access-control-") })
    }

    @Test("changes nothing by GET, without an origin, or for a page of another one")
    func changes() async throws {
        let inspected = try await InspectorFixture()
        _ = try await inspected.fixture.get("/")
        let cookie = "Cookie: \(try await inspected.cookie())"
        let host = inspected.host
        let refused: [(String, [String], Int)] = [
            ("GET", ["Sec-Fetch-Site: same-origin"], 404), ("POST", [], 403),
            ("POST", ["Origin: http://shop-example.localhost:\(inspected.fixture.port)"], 403),
            ("POST", ["Origin: null"], 403), ("POST", ["Sec-Fetch-Site: same-site"], 403),
            ("POST", ["Sec-Fetch-Site: cross-site"], 403), ("POST", ["Sec-Fetch-Site: none"], 403),
            ("POST", ["Origin: http://waystation.localhost"], 403), ("PUT", ["Origin: http://\(host)"], 405),
            ("POST", ["Origin: http://\(host)", "Sec-Fetch-Site: cross-site"], 403),
            ("POST", ["Origin: http://\(host)", "Origin: http://evil.example"], 400),
            ("POST", ["Origin: http://\(host)", "Origin: http://\(host)"], 400),
            ("POST", ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"], 400),
            ("GET", ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"], 400),
        ]
        for (method, fields, status) in refused {
            let response = try await inspected.fixture.get("/api/clear", host: host, method: method, [cookie] + fields)
            #expect(response.status == status, "\(method) \(fields)")
        }
        #expect(try await inspected.ask("/api/load?id=1").status == 200)
        let cleared = try await inspected.fixture.get(
            "/api/clear",
            host: host,
            method: "POST",
            [cookie, "Origin: http://\(host)"]
        )
        #expect(cleared.status == 200)
        #expect(try await inspected.ask("/api/load?id=1").status == 404)
    }

    @Test("answers no question of a page of another origin, but lets a link lead to its page")
    func foreignPages() async throws {
        let inspected = try await InspectorFixture()
        let cookie = "Cookie: \(try await inspected.cookie())"
        for fields in [
            ["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-site"], ["Origin: http://evil.example"],
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script"],
        ] {
            for target in ["/", "/inspector.js", "/api/rules", "/api/loads"] {
                let connection = try RawConnection(inspected.fixture.port)
                let lines = ["GET \(target) HTTP/1.1", "Host: \(inspected.host)", cookie] + fields + ["", ""]
                connection.send(lines.joined(separator: "\r\n"))
                // The stream of loads would have no end.
                let head = await connection.read { $0.range(of: Data("\r\n\r\n".utf8)) != nil }
                #expect(try #require(RawResponse(head)).status == 403, "\(target) \(fields)")
            }
        }
        let link = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]
        #expect(try await inspected.fixture.get("/", host: inspected.host, [cookie] + link).status == 200)
        let frame = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"]
        #expect(try await inspected.fixture.get("/", host: inspected.host, [cookie] + frame).status == 403)
    }

    @Test("has a name that stands for no origin, and none when it is off")
    func name() async throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        let fixture = try await GatewayFixture(origin: origin) {
            $0.forwardsUnclaimed = true
        } interceptor: {
            $0.rules.append(.allow("https://waystation/**", via: .network))
        }
        #expect(fixture.gateway.inspectorURL == nil)
        let named = try #require(URL(string: "https://waystation/"))
        #expect(fixture.gateway.url(for: named) != nil)
        let inspected = try await InspectorFixture()
        #expect(inspected.fixture.gateway.url(for: named) == nil)
        // In the absolute form, which names an origin.
        let absolute = try await inspected.fixture.get("http://\(inspected.host)/", host: inspected.host)
        #expect(absolute.status == 405)
        #expect(absolute.text.contains("`proxy` in a rules file"))
        #expect(
            try await inspected.fixture.get("/", host: "waystation.localhost.:\(inspected.fixture.port)").status == 421
        )
        #expect(try await inspected.fixture.get("/", host: "waystation.localhost").status == 421)
        // A page of the inspector is not a page of the gateway.
        let foreign = try await inspected.fixture.get("/", method: "POST", ["Origin: http://\(inspected.host)"])
        #expect(foreign.status == 403)
    }

    @Test("refuses a request with a body, and closes the connection")
    func bodies() async throws {
        let inspected = try await InspectorFixture()
        let response = try await inspected.fixture.send(
            "POST /api/clear HTTP/1.1\r\nHost: \(inspected.host)\r\nContent-Length: 5\r\n\r\nhello"
        )
        #expect(response.status == 400)
        #expect(response["Connection"] == "close")
    }

    @Test("answers HEAD without a body, so that the next response begins behind the head (RFC 9110 §9.3.2)")
    func heads() async throws {
        let inspected = try await InspectorFixture()
        let connection = try RawConnection(inspected.fixture.port)
        connection.send("HEAD / HTTP/1.1\r\nHost: \(inspected.host)\r\n\r\n")
        connection.send("GET /none HTTP/1.1\r\nHost: \(inspected.host)\r\nConnection: close\r\n\r\n")
        let answers = String(decoding: await connection.read(), as: UTF8.self)
        #expect(answers.hasPrefix("HTTP/1.1 405 "))
        let end = try #require(answers.range(of: "\r\n\r\n"))
        #expect(answers[end.upperBound...].hasPrefix("HTTP/1.1 403 "), "\(answers)")
    }

    @Test("sends the loads of browsers and of the app's sessions in order as they end")
    func stream() async throws {
        let inspected = try await InspectorFixture()
        _ = try await inspected.fixture.get("/")
        let connection = try RawConnection(inspected.fixture.port)
        let cookie = try await inspected.cookie()
        connection.send("GET /api/loads HTTP/1.1\r\nHost: \(inspected.host)\r\nCookie: \(cookie)\r\n\r\n")
        let before = await connection.read { String(decoding: $0, as: UTF8.self).contains("shop.example/\"") }
        _ = try await inspected.fixture.get("/kept/1", host: inspected.name)
        let session = URLSession(configuration: .ephemeral.intercepted(by: inspected.fixture.interceptor))
        _ = try await session.data(from: inspected.origin.url("/kept/2"))
        _ = try await inspected.fixture.get("/", host: "pack-example.localhost:\(inspected.fixture.port)")
        let after = await connection.read { String(decoding: $0, as: UTF8.self).contains("pack.example/\"") }
        let text = String(decoding: before + after, as: UTF8.self)
        #expect(text.contains("Content-Type: text/event-stream"))
        let loads = try Self.loads(in: text)
        #expect(loads.map { $0["number"] } == [1, 2, 3, 4])
        #expect(loads.map { $0["source"] } == ["files", "network", "network", "pack"])
        #expect(loads.map { $0["rule"] } == [0, 3, 3, 2])
        #expect(loads[1]["status"] == 200)
        #expect(loads[1]["bytes"] == 7)
        #expect(loads[1]["cache"].string?.contains("the response was stored") == true)
        connection.leave()
    }

    @Test("hides the values of cookies and credentials, in the list, in one load and in the HAR")
    func secrets() async throws {
        let inspected = try await InspectorFixture()
        _ = try await inspected.fixture.get(
            "/kept?access_token=query-secret",
            host: inspected.name,
            ["Authorization: Bearer sent-secret", "Cookie: own=page-secret", "X-Plain: shown"]
        )
        let load = try await inspected.ask("/api/load?id=1").text
        #expect(load.contains("X-Plain") && load.contains("shown"))
        #expect(load.contains("\"Authorization\",\"[redacted]\""))
        let har = try await inspected.ask("/api/loads.har")
        #expect(har["Content-Disposition"] == "attachment; filename=\"waystation.har\"")
        let archive = try JSONDecoder().decode(HARArchive.self, from: har.body)
        #expect(archive.entries.count == 1)
        #expect(archive.entries[0].response.status == 200)
        #expect(archive.entries[0].request.url.hasSuffix("/kept?access_token=%5Bredacted%5D"))
        _ = try await inspected.fixture.get(
            "/?token=blocked-secret",
            host: "ads-example.localhost:\(inspected.fixture.port)"
        )
        let blocked = try await inspected.ask("/api/load?id=2").text
        #expect(blocked.contains("a rule blocks"))
        let texts = [
            blocked,
            load, har.text, try await inspected.ask("/api/cache").text, try await inspected.ask("/api/cookies").text,
        ]
        for text in texts { #expect(!text.contains("-secret")) }
        #expect(texts.last?.contains("token") == true)
    }

    @Test("takes nothing away from the app's own recorder, which gets the loads of browsers with their bodies")
    func recorder() async throws {
        let recorder = HARRecorder()
        let fixture = try await GatewayFixture(files: ["a.txt": "the body"]) {
            $0.inspector = true
        } interceptor: {
            $0.recorder = recorder
        }
        #expect(try await fixture.get("/a.txt").text == "the body")
        let entry = try #require(recorder.archive().entries.first)
        #expect(entry.request.url == "https://shop.example/a.txt")
        #expect(entry.response.content.text == "the body")
        await fixture.gateway.stop()
        #expect(recorder.count == 1)
    }

    @Test("reports rules with their decision for a URL, in words")
    func rules() async throws {
        let inspected = try await InspectorFixture()
        let rules = try JSONDecoder().decode(JSONValue.self, from: try await inspected.ask("/api/rules").body)
        #expect(
            rules.elements.map { $0["pattern"] }.prefix(3) == [
                "https://shop.example/**", "https://ads.example/**", "https://pack.example/**",
            ]
        )
        #expect(rules[1]["action"] == "block")
        let target = "/api/decision?method=GET&url=https%3A%2F%2Fpack.example%2Fa"
        let decision = try JSONDecoder().decode(JSONValue.self, from: try await inspected.ask(target).body)
        #expect(decision["decision"] == "allowed")
        #expect(decision["rule"] == 2)
        #expect(decision["gatewayURL"] == .string("http://pack-example.localhost:\(inspected.fixture.port)/a"))
        let wrong = try await inspected.ask("/api/decision?url=shop")
        #expect(wrong.status == 400)
        #expect(wrong.text.contains("“shop” is not an absolute URL"))
    }

    @Test("ends with the gateway, although a browser still reads the list")
    func stop() async throws {
        let inspected = try await InspectorFixture()
        let connection = try RawConnection(inspected.fixture.port)
        let cookie = try await inspected.cookie()
        connection.send("GET /api/loads HTTP/1.1\r\nHost: \(inspected.host)\r\nCookie: \(cookie)\r\n\r\n")
        _ = await connection.read { String(decoding: $0, as: UTF8.self).contains("retry:") }
        let start = ContinuousClock.now
        await inspected.fixture.gateway.stop(within: .seconds(300))
        #expect(start.duration(to: .now) < .seconds(200))
        #expect(inspected.fixture.gateway.inspectorURL == nil)
        _ = await connection.read()
    }

    /// The loads in the text of a stream.
    private static func loads(in text: String) throws -> [JSONValue] {
        try text.split(separator: "\n").filter { $0.hasPrefix("data: {") }.map {
            try JSONDecoder().decode(JSONValue.self, from: Data($0.dropFirst(6).utf8))
        }
    }
}
#endif
