import Foundation
import FoundationNetworking
import WaystationTesting

extension Scenario {
    /// Header fields and cookies, in both directions.
    static let fields: [Scenario] = [
        Scenario("fields/several-set-cookie", repeats: true) { _, _ in
            .ok(
                "hello",
                fields: ["Set-Cookie": "a=1; Path=/", "Set-Cookie": "b=2; Path=/", "Content-Type": "text/plain"]
            )
        } run: { stage in
            try await stage.load(.data, .completion, stage.request("/cookies"))
            try await stage.noteCookies()
        },
        Scenario("fields/cookies-come-back", repeats: true) { _, _ in
            .ok("hello", fields: ["Set-Cookie": "seen=yes; Path=/"])
        } run: { stage in
            let session = stage.session()
            _ = try await session.data(for: stage.request("/first"))
            let (data, response) = try await session.data(for: stage.request("/second"))
            stage.completed(data, response, nil)
        },
        Scenario("fields/cookies-of-storage") { _, _ in
            .ok("hello")
        } run: { stage in
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "stored", .value: "1", .domain: "127.0.0.1", .path: "/",
            ]
            if let cookie = HTTPCookie(properties: properties) { HTTPCookieStorage.shared.setCookie(cookie) }
            try await stage.load(.data, .completion, stage.request("/"))
        },
        Scenario("fields/own-cookie") { _, _ in
            .ok("hello")
        } run: { stage in
            var request = stage.request("/")
            request.setValue("mine=1", forHTTPHeaderField: "Cookie")
            try await stage.load(.data, .completion, request)
        },
        Scenario("fields/cookies-refused") { _, _ in
            .ok("hello", fields: ["Set-Cookie": "refused=1; Path=/"])
        } run: { stage in
            let session = stage.session { $0.httpCookieAcceptPolicy = .never }
            _ = try await session.data(for: stage.request("/first"))
            let (data, response) = try await session.data(for: stage.request("/second"))
            stage.completed(data, response, nil)
        },
        Scenario("fields/cookies-not-set") { _, _ in
            .ok("hello", fields: ["Set-Cookie": "unsent=1; Path=/"])
        } run: { stage in
            let session = stage.session { $0.httpShouldSetCookies = false }
            _ = try await session.data(for: stage.request("/first"))
            let (data, response) = try await session.data(for: stage.request("/second"))
            stage.completed(data, response, nil)
        },
        Scenario("fields/additional") { _, _ in
            .ok("hello")
        } run: { stage in
            var request = stage.request("/")
            request.setValue("request", forHTTPHeaderField: "X-Both")
            request.addValue("1", forHTTPHeaderField: "X-Twice")
            request.addValue("2", forHTTPHeaderField: "X-Twice")
            try await stage.load(.data, .completion, request) {
                $0.httpAdditionalHeaders = ["X-Additional": "1", "X-Both": "session", "User-Agent": "own/1"]
            }
        },
        Scenario("fields/repeated-and-odd", repeats: true) { _, _ in
            .ok(
                Data("hello".utf8),
                fields: [
                    "x-lower": "1", "X-UPPER": "2", "X-Twice": "a", "X-Twice": "b", "X-Empty": "", "X-Comma": "a, b",
                    "Content-Type": "application/json; charset=UTF-8",
                    "Content-Disposition": "attachment; filename=\"named.json\"", "Vary": "Accept-Language",
                    "Cache-Control": "max-age=60",
                ]
            )
        } run: {
            try await $0.load(.data, .delegate, $0.request("/fields"))
        },
        Scenario("fields/conditional") { request, _ in
            request.value(of: "If-None-Match") == nil ? .ok("hello") : .status(304, fields: ["ETag": "\"1\""])
        } run: { stage in
            var request = stage.request("/")
            request.setValue("\"1\"", forHTTPHeaderField: "If-None-Match")
            try await stage.load(.data, .completion, request)
        },
        Scenario("fields/odd-targets") { request, _ in
            .ok(request.target)
        } run: { stage in
            try await stage.load(.data, .completion, stage.request("/a%20b/%C3%BC//c/./d?q=%26&x=+&empty=&=#part"))
        },
        Scenario("fields/dot-segments") { request, _ in
            .ok(request.target)
        } run: { stage in
            try await stage.load(.data, .completion, stage.request("/a/../b/./c/../../d/..?e=/../f"))
        },
        Scenario("fields/user-in-url") { request, _ in
            .ok(request.value(of: "Authorization") ?? "none")
        } run: { stage in
            try await stage.load(.data, .completion, from: "http://us%20er:pass%3A@127.0.0.1:\(stage.origin.port)/")
        },
        Scenario("fields/user-without-password-in-url") { request, _ in
            .ok(request.value(of: "Authorization") ?? "none")
        } run: { stage in
            try await stage.load(.data, .completion, from: "http://user@127.0.0.1:\(stage.origin.port)/")
        },
        Scenario("fields/reload-policy") { _, _ in
            .ok("hello", fields: ["Cache-Control": "max-age=60"])
        } run: { stage in
            var request = stage.request("/")
            request.cachePolicy = .reloadIgnoringLocalCacheData
            try await stage.load(.data, .completion, request)
        },
    ]
}

extension Stage {
    /// Records the cookies in the session's storage after the load has ended.
    fileprivate func noteCookies() async throws {
        await waitForEnd()
        let cookies = HTTPCookieStorage.shared.cookies ?? []
        sightings.note("cookies", cookies.map { "\($0.name)=\($0.value) \($0.path)" }.sorted().joined(separator: ", "))
    }
}
