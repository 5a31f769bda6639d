import Foundation
import FoundationNetworking
import WaystationTesting

extension Scenario {
    /// Proxies that the environment names.
    static let proxies: [Scenario] =
        [Way.completion, .delegate].map { way in
            proxied("proxy/http/\(way.rawValue)") {
                try await $0.load(.data, way, from: "http://origin.test/a/../b?c=d#e")
            }
        } + [
            proxied("proxy/http/POST") { stage in
                try await stage.load(.data, .completion, from: "http://origin.test:81/form") { request in
                    request.httpMethod = "POST"
                    request.httpBody = Data("posted".utf8)
                }
            },
            proxied("proxy/user-in-url") {
                try await $0.load(.data, .completion, from: "http://user:own@origin.test/")
            },
            proxied("proxy/credentials", ["http_proxy": "http://user:secret@PROXY"]) {
                try await $0.load(.data, .completion, from: "http://origin.test/")
            },
            proxied("proxy/without-scheme", ["http_proxy": "PROXY"]) {
                try await $0.load(.data, .completion, from: "http://origin.test/")
            },
            proxied("proxy/all", ["all_proxy": "http://PROXY"]) {
                try await $0.load(.data, .completion, from: "http://origin.test/")
            },
            proxied("proxy/upper-case", ["HTTP_PROXY": "http://PROXY"]) {
                try await $0.load(.data, .completion, $0.request("/"))
            },
            proxied("proxy/https-only", ["https_proxy": "http://PROXY"]) {
                try await $0.load(.data, .completion, $0.request("/"))
            },
            proxied("proxy/redirect") { request, _ in
                request.target.hasSuffix("/start") ? .redirect(to: "http://other.test/end") : .ok("the end")
            } run: {
                try await $0.load(.data, .delegate, from: "http://origin.test/start")
            },
            proxied("proxy/shared-by-hosts") { stage in
                let session = stage.session()
                for host in ["one", "two", "three"] {
                    guard let url = URL(string: "http://\(host).test/") else { return }
                    let (data, _) = try await session.data(for: URLRequest(url: url))
                    stage.sightings.call(String(decoding: data, as: UTF8.self))
                }
                if let proxy = stage.servers.proxy { stage.note(connectionsOf: proxy) }
                stage.sightings.end()
            },
            proxied("proxy/fails") { _, _ in
                .status(502, body: Data("no way".utf8))
            } run: {
                try await $0.load(.data, .completion, from: "http://origin.test/")
            },
            proxied("proxy/refused") { stage in
                stage.servers.proxy?.stop()
                try await stage.load(.data, .completion, from: "http://origin.test/")
            },
            proxied("proxy/not-found", ["http_proxy": "http://nowhere.invalid:8080"]) {
                try await $0.load(.data, .completion, $0.request("/"))
            },
            proxied("proxy/dictionary-is-ignored", [:]) { stage in
                try await stage.load(.data, .completion, stage.request("/")) { configuration in
                    configuration.connectionProxyDictionary = [
                        "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(stage.servers.proxy?.port ?? 0),
                    ]
                }
            },
        ]
        + ["http://PROXY", "http://user:wrong@PROXY"].flatMap { address in
            [Way.completion, .delegate].map { way in
                let name = address.contains("@") ? "407-again" : "407"
                return proxied("proxy/\(name)/\(way.rawValue)", ["http_proxy": address]) { _, _ in
                    .status(407, fields: ["Proxy-Authenticate": "Basic realm=\"proxy\""], body: Data("no".utf8))
                } run: { stage in
                    let observer = Observer(stage.sightings, challenge: .credential(user: "user", password: "right"))
                    try await stage.load(.data, way, from: "http://origin.test/", observer: observer)
                }
            }
        }
        + ["127.0.0.1", "127.0.0.0/8", "*", "other.test,127.0.0.1", "other.test 127.0.0.1", "other.test", "0.0.1"].map {
            exceptions in
            proxied("proxy/except/\(exceptions)", ["http_proxy": "http://PROXY", "no_proxy": exceptions]) {
                try await $0.load(.data, .completion, $0.request("/"))
            }
        }
        + ["nowhere.invalid", ".nowhere.invalid", "invalid", "where.invalid"].map { exceptions in
            proxied("proxy/except/\(exceptions)", ["http_proxy": "http://PROXY", "NO_PROXY": exceptions]) {
                try await $0.load(.data, .completion, from: "http://sub.nowhere.invalid/")
            }
        }
        + [
            tunnelled("proxy/connect/completion") {
                try await $0.load(.data, .completion, from: "https://localhost:\($0.securePort)/a?b")
            },
            tunnelled("proxy/connect/delegate") {
                try await $0.load(.data, .delegate, from: "https://localhost:\($0.securePort)/a?b")
            },
            tunnelled("proxy/connect/credentials", "http://user:secret@PROXY") {
                try await $0.load(.data, .completion, from: "https://localhost:\($0.securePort)/")
            },
            tunnelled("proxy/connect/wrong-host") {
                try await $0.load(.data, .completion, from: "https://other.test:\($0.securePort)/")
            },
            tunnelled("proxy/connect/kept") { stage in
                let session = stage.session()
                for number in 0..<3 {
                    guard let url = URL(string: "https://localhost:\(stage.securePort)/\(number)") else { return }
                    let (data, _) = try await session.data(from: url)
                    stage.sightings.call(String(decoding: data, as: UTF8.self))
                }
                if let proxy = stage.servers.proxy { stage.note(connectionsOf: proxy) }
                stage.sightings.end()
            },
        ]
        + [
            ("407", ScriptedOrigin.Response.status(407, fields: ["Proxy-Authenticate": "Basic realm=\"proxy\""])),
            ("502", .status(502, body: Data("no way".utf8))), ("302", .redirect(to: "http://other.test/")),
            ("closed", .closed), ("gibberish", .raw(Data("this is no HTTP\r\n\r\n".utf8))),
        ].map { name, answer in
            tunnelled("proxy/connect/\(name)", by: { _, _ in answer }) {
                try await $0.load(.data, .completion, from: "https://localhost:\($0.securePort)/")
            }
        }
        + ["localhost", "other.test"].map { exceptions in
            tunnelled("proxy/connect/except/\(exceptions)", exceptions: exceptions) {
                try await $0.load(.data, .completion, from: "https://localhost:\($0.securePort)/")
            }
        }

    /// Makes a scenario of loads by https through a proxy, which opens a tunnel to the server with TLS.
    private static func tunnelled(
        _ name: String,
        _ address: String = "http://PROXY",
        exceptions: String = "",
        by proxy: @escaping Script = { _, props in .tunnel(to: props.securePort) },
        run: @escaping @Sendable (Stage) async throws -> Void
    ) -> Scenario {
        let environment = ["https_proxy": address, "no_proxy": exceptions]
        return Scenario(
            name,
            setting: Setting(certificate: "name", proxy: proxy, environment: environment),
            origin: { request, _ in .ok("answer to \(request.target)") },
            run: run
        )
    }

    private static func proxied(
        _ name: String,
        _ environment: [String: String] = ["http_proxy": "http://PROXY"],
        by proxy: @escaping Script = { _, _ in .ok("the proxy's answer") },
        run: @escaping @Sendable (Stage) async throws -> Void
    ) -> Scenario {
        Scenario(
            name,
            setting: Setting(proxy: proxy, environment: environment),
            origin: { _, _ in .ok("the origin") },
            run: run
        )
    }
}
