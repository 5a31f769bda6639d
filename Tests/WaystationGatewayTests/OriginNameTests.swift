#if Gateway
import Foundation
import Testing

@testable import WaystationGateway

@Suite("The name of an origin at a gateway")
struct OriginNameTests {
    @Test(
        "stands for one origin, and is found from it",
        arguments: [
            ("https://shop.example", "shop.example.localhost"),
            ("https://shop.example:8443", "shop.example.8443.localhost"),
            ("http://shop.example", "shop.example.http.localhost"),
            ("http://shop.example:8080", "shop.example.8080.http.localhost"),
            ("https://intranet", "intranet.localhost"),
            ("http://127.0.0.1:8000", "127.0.0.1.8000.http.localhost"),
            ("https://127.0.0.1", "127.0.0.1.localhost"),
            ("https://http", "http.localhost"),
        ]
    )
    func both(origin: String, name: String) throws {
        let names = LocalNames(port: 8080)
        #expect(names.local(origin + "/a?b#c") == "http://\(name):8080/a?b#c")
        #expect(names.remote("http://\(name):8080/a?b#c") == origin + "/a?b#c")
    }

    @Test(
        "is not made for texts that are not an origin with a name",
        arguments: [
            "https://[::1]/", "ftp://shop.example/", "mailto:a@b.example", "/path", "https://", "https://a b/",
            "https://a:99999/",
        ]
    )
    func none(url: String) {
        #expect(LocalNames(port: 8080).local(url) == nil)
    }

    @Test(
        "is refused when it stands for no origin, or has another port",
        arguments: [
            "localhost:8080", ".localhost:8080", "shop.example:8080", "127.0.0.1:8080", "shop.example.localhost",
            "shop.example.localhost:8081", "shop.example.localhost.:8080", "shop.example.localhost:8080:8080",
            "shop..example.localhost:8080", "shop.example.443.localhost:8080", "shop.example.0.localhost:8080",
            "shop.example.99999.localhost:8080", "shop.example.080.localhost:8080", "a/b.localhost:8080",
            "shop.example.localhost.evil.example:8080", "user@shop.example.localhost:8080", "[::1]:8080", "",
        ]
    )
    func refused(authority: String) {
        #expect(LocalNames(port: 8080).origin(ofAuthority: authority) == nil)
    }

    @Test("has no port if the gateway has port 80")
    func port80() {
        #expect(LocalNames(port: 80).local("https://shop.example/") == "http://shop.example.localhost/")
        #expect(LocalNames(port: 80).remote("http://shop.example.localhost/") == "https://shop.example/")
    }

    @Test("is compared without regard to case")
    func capitals() {
        #expect(LocalNames(port: 1).remote("HTTP://Shop.Example.LOCALHOST:1/A") == "https://shop.example/A")
    }
}
#endif
