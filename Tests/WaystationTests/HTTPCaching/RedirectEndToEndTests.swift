import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite("Redirects and the cache, end to end (RFC 9110 §15.4)")
struct RedirectEndToEndTests {
    @Test(
        "are stored when their status and fields allow it",
        arguments: [
            (301, "max-age=60", true), (302, "max-age=60", true), (303, "max-age=60", true), (307, "max-age=60", true),
            (308, "max-age=60", true), (302, "", false), (303, "", false), (307, "", false), (301, "no-store", false),
            (308, "no-store", false), (301, "no-cache", false),
        ]
    )
    func stored(status: Int, directives: String, isStored: Bool) async throws {
        let fixture = try CachingFixture { request in
            request.path == "/a"
                ? .status(status, fields: ["Location": "/b", "Cache-Control": directives])
                : .ok("there", fields: ["Cache-Control": "max-age=3600"])
        }
        for _ in 0..<2 { #expect(try await fixture.load("/a").body == "there") }
        #expect(fixture.origin.requests.map(\.target) == (isStored ? ["/a", "/b"] : ["/a", "/b", "/a"]))
    }

    @Test("that are stored are reported to the delegate, which may refuse them", arguments: [true, false])
    func delegate(follows: Bool) async throws {
        let fixture = try CachingFixture { request in
            request.path == "/a"
                ? .status(301, fields: ["Location": "/b", "Cache-Control": "max-age=60"], body: Data("moved".utf8))
                : .ok("there", fields: ["Cache-Control": "max-age=60"])
        }
        try await fixture.load("/a")
        let delegate = RecordingDelegate(follow: { follows ? $0 : nil })
        let session = URLSession(
            configuration: .ephemeral.intercepted(by: fixture.interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
        session.dataTask(with: fixture.origin.url("/a")).resume()
        await delegate.completion()
        #expect(
            delegate.calls
                == (follows
                    ? [.redirect(to: "/b"), .response(200), .data(5), .completed(nil)]
                    : [.redirect(to: "/b"), .response(301), .data(5), .completed(nil)])
        )
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("are stored by an archive, which serves them without a network", arguments: [301, 302, 303, 307, 308])
    func archived(status: Int) async throws {
        let fixture = try CachingFixture(.cacheFirst(for: .days(1))) { request in
            request.path == "/a" ? .redirect(status, to: "/b") : .ok("there")
        }
        try await fixture.load("/a")
        fixture.origin.stop()
        #expect(try await fixture.load("/a").body == "there")
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("to another origin carry no credentials and do not use their cache partition (RFC 9110 §11.6.2)")
    func credentials() async throws {
        let other = try ScriptedOrigin { request in
            .ok(request.value(of: "Authorization") ?? "none", fields: ["Cache-Control": "max-age=60"])
        }
        let target = other.url("/there").absoluteString
        let fixture = try CachingFixture { _ in
            .status(302, fields: ["Location": target, "Cache-Control": "max-age=60"])
        }
        for _ in 0..<2 { #expect(try await fixture.load("/", ["Authorization": "Bearer a"]).body == "none") }
        #expect(try await fixture.load("/", ["Authorization": "Bearer b"]).body == "none")
        // The target's response is stored without a login and serves all; each login stores its own redirect.
        #expect(other.requestCount == 1)
        #expect(fixture.origin.requestCount == 2)
        let (data, _) = try await fixture.session.data(from: other.url("/there"))
        #expect(String(decoding: data, as: UTF8.self) == "none")
        #expect(other.requestCount == 1)
    }

    @Test("in a circle end with an error, and each target is requested once")
    func circle() async throws {
        let fixture = try CachingFixture { request in
            .status(301, fields: ["Location": request.path == "/a" ? "/b" : "/a", "Cache-Control": "max-age=60"])
        }
        let error = await #expect(throws: URLError.self) { try await fixture.load("/a") }
        #expect(error?.code == .httpTooManyRedirects)
        #expect(fixture.asked == ["GET /a", "GET /b"])
    }
}
