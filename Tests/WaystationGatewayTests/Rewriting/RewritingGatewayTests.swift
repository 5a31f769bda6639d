#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationNIO
import WaystationTesting

@Suite("A gateway that rewrites links", .timeLimit(.minutes(10)))
struct RewritingGatewayTests {
    private static let page = "<a href=\"https://shop.example/a\">a</a> <a href=\"https://elsewhere.example/\">b</a>"

    private func fixture(
        files: [String: String] = [:],
        origin: ScriptedOrigin? = nil,
        isProxy: Bool = false
    ) async throws -> GatewayFixture {
        try await GatewayFixture(files: files, origin: origin) {
            $0.rewritesLinks = true
            $0.isProxy = isProxy
        }
    }

    @Test("leads the links of pages and style sheets to itself, where a rule takes them")
    func pages() async throws {
        let fixture = try await fixture(files: [
            "index.html": Self.page, "a.css": "a { background: url(//shop.example/b.png) }",
            "a.svg": "<svg><a href='https://shop.example/'/></svg>", "a.js": "'https://shop.example/'",
        ])
        let shop = "http://\(fixture.shop)"
        let page = try await fixture.get("/")
        #expect(page.text == "<a href=\"\(shop)/a\">a</a> <a href=\"https://elsewhere.example/\">b</a>")
        #expect(page["Content-Length"] == nil)
        #expect(page["Transfer-Encoding"] == "chunked")
        #expect(try await fixture.get("/a.css").text == "a { background: url(\(shop)/b.png) }")
        #expect(try await fixture.get("/a.svg").text == "<svg><a href='\(shop)/'/></svg>")
        #expect(try await fixture.get("/a.js").text == "'https://shop.example/'")
    }

    @Test("changes no link unless the app asks for it")
    func off() async throws {
        let fixture = try await GatewayFixture(files: ["index.html": Self.page])
        let page = try await fixture.get("/")
        #expect(page.text == Self.page)
        #expect(page["ETag"] != nil)
    }

    @Test("leaves out the fields that describe other bytes, for HEAD as well")
    func fields() async throws {
        let origin = try ScriptedOrigin { _ in
            .ok(
                Self.page,
                fields: [
                    "Content-Type": "text/html", "ETag": "\"1\"", "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT",
                    "Accept-Ranges": "bytes", "Digest": "md5=x", "Repr-Digest": "sha-256=:eA==:", "X-Own": "1",
                ]
            )
        }
        let fixture = try await fixture(origin: origin)
        let name = fixture.name(of: origin)
        for method in ["GET", "HEAD"] {
            let page = try await fixture.get("/", host: name, method: method)
            #expect(page.status == 200)
            #expect(page["X-Own"] == "1")
            #expect(page["Accept-Ranges"] == "none")
            for field in ["Content-Length", "ETag", "Last-Modified", "Digest", "Repr-Digest"] {
                #expect(page[field] == nil, "\(field) of \(method)")
            }
            #expect(page.body.isEmpty == (method == "HEAD"))
        }
    }

    @Test("leaves parts, downloads, other types, and what the origin keeps from changes as they are")
    func unchanged() async throws {
        let origin = try ScriptedOrigin { request in
            let body = Data(Self.page.utf8)
            return switch request.path {
            case "/part":
                .status(206, fields: ["Content-Type": "text/html", "Content-Range": "bytes 0-1/9"], body: body)
            case "/download":
                .ok(body, fields: ["Content-Type": "text/html", "Content-Disposition": "attachment; filename=a.html"])
            case "/no-transform":
                .ok(body, fields: ["Content-Type": "text/html", "Cache-Control": "max-age=1, no-transform"])
            // A name in quotation marks is no directive.
            case "/quoted":
                .ok(body, fields: ["Content-Type": "text/html", "Cache-Control": "private=\"a, no-transform, b\""])
            // A quotation mark that is not closed hides no directive after it, and no encoding.
            case "/unclosed":
                .ok(body, fields: ["Content-Type": "text/html", "Cache-Control": "private=\"a, no-transform"])
            case "/unclosed-wide": .ok(body, fields: ["Content-Type": "text/html; charset=\"utf-16"])
            case "/text": .ok(body, fields: ["Content-Type": "text/plain"])
            case "/wide": .ok(body, fields: ["Content-Type": "text/html; charset=utf-16"])
            default: .status(404, fields: ["Content-Type": "text/html"], body: body)
            }
        }
        let fixture = try await fixture(origin: origin, isProxy: true)
        let name = fixture.name(of: origin)
        for path in ["/part", "/download", "/no-transform", "/unclosed", "/unclosed-wide", "/text", "/wide"] {
            #expect(try await fixture.get(path, host: name).text == Self.page, "\(path)")
        }
        let proxied = try await fixture.get(origin.url("/any").absoluteString, host: "127.0.0.1:\(origin.port)")
        #expect(proxied.text == Self.page)
        for path in ["/any", "/quoted"] {
            #expect(try await fixture.get(path, host: name).text.contains(fixture.shop), "\(path)")
        }
    }

    @Test(
        "leaves a page in a coding that no client knows as it came, with the field",
        arguments: ["none", "utf-8", "aws-chunked", "gzip, aws-chunked", "compress"]
    )
    func unknownCoding(coding: String) async throws {
        let body = Data(Self.page.utf8) + Data([0xE9, 0x00])
        let origin = try ScriptedOrigin { _ in
            .ok(body, fields: ["Content-Type": "text/html", "Content-Encoding": coding, "ETag": "\"1\""])
        }
        let fixture = try await GatewayFixture(origin: origin) {
            $0.rewritesLinks = true
            $0.isProxy = true
        } interceptor: {
            $0.transport = .nio
        }
        for isProxied in [false, true] {
            let host = isProxied ? "127.0.0.1:\(origin.port)" : fixture.name(of: origin)
            let page = try await fixture.get(isProxied ? origin.url("/").absoluteString : "/", host: host)
            #expect(page.status == 200)
            #expect(page["Content-Encoding"] == coding)
            #expect(page["Content-Length"] == "\(body.count)")
            #expect(page["ETag"] == "\"1\"")
            #expect(page.body == body)
        }
    }

    @Test("passes on a page as it arrives, but for a URL that has not ended")
    func streaming() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in
            .stream(
                [
                    .bytes(Data("<p>first</p><a href=\"https://shop.ex".utf8)), .wait(gate),
                    .bytes(Data("ample/\">second</a><a href='https://shop.example".utf8)),
                ],
                fields: ["Content-Type": "text/html"]
            )
        }
        let fixture = try await fixture(origin: origin)
        let connection = try RawConnection(fixture.port)
        connection.send("GET / HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\nConnection: close\r\n\r\n")
        let first = await connection.read { $0.range(of: Data("<a href=\"".utf8)) != nil }
        #expect(!String(decoding: first, as: UTF8.self).contains("https://shop"))
        gate.open()
        let rest = try #require(RawResponse(first + (await connection.read())))
        let shop = "http://\(fixture.shop)"
        #expect(rest.text == "<p>first</p><a href=\"\(shop)/\">second</a><a href='https://shop.example")
    }

    @Test("sends a page again that the browser kept from before, and confirms a picture that it kept")
    func copies() async throws {
        let fixture = try await fixture(files: ["index.html": Self.page, "a.png": "picture"])
        let picture = try await fixture.get("/a.png")
        let tag = "If-None-Match: \(try #require(picture["ETag"]))"
        #expect(try await fixture.get("/a.png", ["Sec-Fetch-Dest: image", tag]).status == 304)
        let new = try await fixture.get("/", ["Sec-Fetch-Dest: document", "If-None-Match: *"])
        #expect(new.status == 200)
        #expect(new.text.contains(fixture.shop))
    }
}
#endif
