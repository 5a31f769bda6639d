#if Gateway
import Foundation
import Synchronization
import Testing
import Waystation
import WaystationGateway
import WaystationNIO
import WaystationTesting

@Suite("A gateway whose environment names it as the proxy", .timeLimit(.minutes(10)))
struct OwnProxyTests {
    /// Makes an engine for which the variables name a port of this machine that is found out later.
    private static func configure(
        _ configuration: inout Interceptor.Configuration,
        _ variables: [String],
        _ port: Port,
        host: String = "127.0.0.1",
        trusting root: URL? = nil
    ) {
        configuration.makeTransport = { session in
            var options = NIOOptions()
            options.environment = Dictionary(
                uniqueKeysWithValues: variables.map { ($0, "http://\(host):\(port.number)") }
            )
            options.additionalTrustedRoots = root.map { [.pemFile(path: $0.path)] } ?? []
            return NIOTransport(configuration: session, options: options)
        }
    }

    private final class Port: Sendable {
        private let value = Mutex(0)
        var number: Int {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    @Test(
        "refuses a request that it has sent to itself, and names the variables, as a proxy and without",
        arguments: [(true, "http_proxy"), (true, "all_proxy"), (false, "http_proxy")]
    )
    func plain(isProxy: Bool, variable: String) async throws {
        let port = Port()
        let fixture = try await GatewayFixture {
            $0.isProxy = isProxy
        } interceptor: {
            $0.rules = [.allow("http://shop.example:*/**", via: .network)]
            Self.configure(&$0, [variable], port)
        }
        port.number = fixture.port
        let host = "shop-example-http.localhost:\(fixture.port)"
        // Before the first request to the network, the gateway knows only the variables of its process.
        if !isProxy { #expect(try await fixture.get("/a", host: host).status == 405) }
        let named = try await fixture.get("/a", host: host)
        let proxied = try await fixture.get("http://shop.example/a", host: "shop.example", ["Via: 1.1 other"])
        let otherPort = try await fixture.get("http://shop.example:81/a", host: "shop.example:81")
        for response in isProxy ? [named, proxied, otherPort] : [named] {
            #expect(response.status == 508)
            #expect(response.text.contains("`http_proxy` or `all_proxy`"), "\(response.text)")
            #expect(response.text.contains("list shop.example in `no_proxy`"))
        }
    }

    /// A spelling that the gateway does not know to be this machine, as it does not know the names in `/etc/hosts`.
    private static let unknownHost = "[::ffff:127.0.0.1]"

    @Test("refuses a request that it has sent to itself by a name that only a resolver knows")
    func unknownName() async throws {
        let port = Port()
        let fixture = try await GatewayFixture {
            $0.isProxy = true
        } interceptor: {
            $0.rules = [.allow("http://shop.example/**", via: .network)]
            Self.configure(&$0, ["http_proxy"], port, host: Self.unknownHost)
        }
        port.number = fixture.port
        let response = try await fixture.get("http://shop.example/a", host: "shop.example")
        #expect(response.status == 508)
        #expect(response.text.contains("`http_proxy` or `all_proxy`"), "\(response.text)")
    }

    @Test("refuses a tunnel through itself by a name that only a resolver knows")
    func tunnelByUnknownName() async throws {
        let port = Port()
        let fixture = try await GatewayFixture {
            $0.isProxy = true
        } interceptor: {
            Self.configure(&$0, ["https_proxy"], port, host: Self.unknownHost)
        }
        port.number = fixture.port
        let authority = "shop.example:443"
        let response = try await fixture.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        #expect(response.status == 502)
        #expect(response.text.contains("the proxy answered CONNECT with the status 508"), "\(response.text)")
    }

    @Test("makes no engine for what files answer, to find out about its proxies")
    func noEngine() async throws {
        let made = Mutex(0)
        let fixture = try await GatewayFixture(files: ["a.txt": "a"]) { _ in
        } interceptor: {
            $0.makeTransport = { session in
                made.withLock { $0 += 1 }
                return NIOTransport(configuration: session)
            }
        }
        #expect(try await fixture.get("/a.txt").text == "a")
        #expect(try await fixture.get("/b.txt").status == 404)
        #expect(made.withLock { $0 } == 0)
    }

    @Test("refuses a request within TLS that it has sent to itself")
    func secured() async throws {
        let port = Port()
        let folder = try TemporaryFolder()
        let rules: [Rule] = [.allow("https://shop.example/**", via: .network)]
        let authority = try CertificateAuthority.open(in: folder.url.appending(path: "authority"), for: rules)
        let fixture = try await GatewayFixture {
            $0.isProxy = true
            $0.authority = authority
        } interceptor: {
            $0.rules = rules
            Self.configure(&$0, ["https_proxy"], port, trusting: authority.rootCertificate)
        }
        port.number = fixture.port
        let response = try await fixture.get("/a", host: "shop-example.localhost:\(fixture.port)")
        #expect(response.status == 508)
        #expect(response.text.contains("`https_proxy` or `all_proxy`"), "\(response.text)")
    }

    @Test("loads over TLS through a tunnel of its own, and shows the origin nothing of it")
    func tunnel() async throws {
        let port = Port()
        let origin = try await SecuredOrigin { _ in .ok("inner") }
        let folder = try TemporaryFolder()
        try folder.write(Data(origin.authority.utf8), to: "root.pem")
        let fixture = try await GatewayFixture {
            $0.isProxy = true
        } interceptor: {
            $0.rules = [.allow("\(origin.url())**", via: .network)]
            Self.configure(&$0, ["https_proxy"], port, trusting: folder.url.appending(path: "root.pem"))
        }
        port.number = fixture.port
        let response = try await fixture.get("/a", host: "localhost-\(origin.port).localhost:\(fixture.port)")
        #expect(response.text == "inner")
        #expect(origin.requests.first?.value(of: "Via") == nil)
    }

    @Test("sends no field of its own to another proxy")
    func otherProxy() async throws {
        let port = Port()
        let other = try ScriptedOrigin { _ in .ok("other") }
        port.number = Int(other.port)
        let fixture = try await GatewayFixture {
            $0.isProxy = true
        } interceptor: {
            $0.rules = [.allow("http://shop.example/**", via: .network)]
            Self.configure(&$0, ["http_proxy"], port)
        }
        #expect(try await fixture.get("http://shop.example/a", host: "shop.example").text == "other")
        #expect(other.requests.first?.target == "http://shop.example/a")
        #expect(other.requests.first?.value(of: "Via") == nil)
    }
}
#endif
