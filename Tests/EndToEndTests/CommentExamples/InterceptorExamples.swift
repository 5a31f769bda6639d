import Foundation
import FoundationNetworking
import Waystation

/// The examples in the comments of `Waystation`, compiled and not run; similar ones in `README.md` are run.
enum InterceptorExamples {
    static func interceptor(_ caches: URL) throws -> URLSession {
        // snippet: comment-interceptor
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://img.example/**", via: .cache(.cacheFirst(for: .days(7))))]
            $0.cache = try ResponseCache(directory: caches)
        }
        let session = URLSession(configuration: .default.intercepted(by: interceptor))
        // end snippet
        return session
    }

    static func explanation(_ interceptor: Interceptor, _ url: URL) async throws -> Data {
        // snippet: comment-explanation
        let explanation = await interceptor.explain(url)
        print(explanation)
        let json = try JSONEncoder().encode(explanation)
        // end snippet
        return json
    }

    static func rules() throws -> Interceptor {
        try Interceptor {
            // snippet: comment-rule
            $0.rules = [
                .block("https://ads.example/**"),
                .allow("https://img.example/**", via: .cache(.cacheFirst(for: .days(7)))),
                .allow("https://*.news.example/**", methods: ["GET"], via: .cache(.networkFirst(timeout: .seconds(3)))),
            ]
            // end snippet
        }
    }

    static func tags() throws -> Interceptor {
        try Interceptor {
            // snippet: comment-route-tags
            $0.rules = [.allow("https://shop.example/prices/**", via: .cache(.standard, tags: ["prices"]))]
            // end snippet
        }
    }

    static func keys() throws -> Interceptor {
        try Interceptor {
            // snippet: comment-cache-key
            $0.rules = [
                .allow(
                    "https://shop.example/**",
                    via: .cache(.standard, key: .ignoring("utm_*", "fbclid").sortingQuery())
                ),
                .allow(
                    "https://api.example/**",
                    via: .cache(.standard, key: .own { $0.value(forHTTPHeaderField: "X-Tenant") })
                ),
                .allow("https://graph.example/**", via: .cache(.standard, key: .includingBody(of: ["POST"]))),
            ]
            // end snippet
        }
    }

    static func keys(_ cache: ResponseCache) throws -> Interceptor {
        // snippet: strategies-keys
        let interceptor = try Interceptor {
            $0.rules = [
                .allow(
                    "https://shop.example/**",
                    via: .cache(.standard, key: .ignoring("utm_*", "fbclid").sortingQuery())
                ),
                .allow("https://graph.example/**", via: .cache(.standard, key: .includingBody(of: ["POST"]))),
                .allow(
                    "https://api.example/**",
                    via: .cache(.standard, key: .own { $0.value(forHTTPHeaderField: "X-Tenant") })
                ),
            ]
            $0.cache = cache
        }
        // end snippet
        return interceptor
    }

    static func digests() throws -> Interceptor {
        try Interceptor {
            // snippet: comment-checking-digests
            $0.rules = [.allow("https://files.example/**", via: .cache(.standard.checkingDigests()))]
            // end snippet
        }
    }

    static func digests(_ cache: ResponseCache) throws -> Interceptor {
        // snippet: strategies-digests
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://files.example/**", via: .cache(.standard.checkingDigests()))]
            $0.cache = cache
        }
        // end snippet
        return interceptor
    }

    static func purge(_ cache: ResponseCache) async throws {
        // snippet: comment-purge
        try await cache.purge(tag: "prices", as: .soft)
        // end snippet
    }

    static func cache(_ caches: URL) throws -> ResponseCache {
        // snippet: comment-response-cache
        let cache = try ResponseCache(
            directory: caches.appending(path: "http"),
            maximumSize: .megabytes(200),
            maximumAge: .days(30)
        )
        // end snippet
        return cache
    }

    static func cookies(_ support: URL) async throws -> Interceptor {
        // snippet: comment-cookie-store
        let cookies = CookieStore(file: support.appending(path: "cookies.json"))
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .network)]
            $0.cookies = cookies
        }
        for await change in cookies.changes { print(change) }
        // end snippet
        return interceptor
    }

    struct App {
        func signIn() async throws -> String { "t1" }
        func open(_ request: URLRequest) {}
    }

    static func login(_ app: App) throws -> Interceptor {
        // snippet: comment-login-session
        let login = LoginSession(cookie: .named("token", domain: "shop.example")) { try await app.signIn() }
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .network, requiresLogin: .marked)]
            $0.login = login
        }
        // end snippet
        return interceptor
    }

    static func links(_ app: App) throws -> Interceptor {
        try Interceptor {
            // snippet: comment-external-links
            $0.externalLinks = ExternalLinks(
                schemes: ["tel", "mailto", "weixin"],
                hosts: ["pay.example", "*.maps.example"],
                handler: { app.open($0) }
            )
            // end snippet
        }
    }

    static func headerBody() throws -> Interceptor {
        try Interceptor {
            // snippet: comment-header-body
            $0.headerBody = HeaderBody()  // x-weimai-h5body: %7B%22a%22%3A1%7D
            // end snippet
        }
    }
}

// snippet: comment-answer-source
struct PagesOfApp: AnswerSource {
    let pages: [String: Data]
    let name = "pages"

    func answer(to request: SourceRequest) -> SourceAnswer {
        guard request.method == "GET", let page = pages[request.url.path] else { return .declined }
        return .response(headerFields: ["Content-Type": "text/html; charset=utf-8"], body: page)
    }
}
// end snippet
