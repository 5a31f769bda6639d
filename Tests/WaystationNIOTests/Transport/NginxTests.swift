#if NIO
import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport

@testable import WaystationNIO

@Suite("nginx", .timeLimit(.minutes(10)))
struct NginxTests {
    private static let text = Data(String(repeating: "hello nginx ", count: 20_000).utf8)

    @Test(
        "answers many loads at once whole, although it ends its connections again and again",
        arguments: ["", "ssl", "ssl http2"]
    )
    func many(listen: String) async throws {
        let certificates = try Certificates.shared.get()
        let keys =
            listen.isEmpty
            ? ""
            : "ssl_certificate \(certificates.path("name.pem")); ssl_certificate_key \(certificates.path("name.key"));"
        let nginx = try Nginx(
            listen: listen,
            // With HTTP/2, nginx refuses the requests above this number that were sent at the same time.
            directives: """
                \(keys) keepalive_requests 20; gzip on; gzip_types text/plain;
                add_header X-Protocol $server_protocol;
                """
        )
        try nginx.serve(Self.text, at: "a.txt")
        var options = NIOOptions()
        options.environment = [:]
        options.additionalTrustedRoots = [.pemFile(path: certificates.path("ca.pem"))]
        let transport = NIOTransport(configuration: .ephemeral, options: options)
        let url = "\(listen.isEmpty ? "http" : "https")://localhost:\(nginx.port)/a.txt"
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    let outcome = await transport.load(url)
                    #expect(outcome.error == nil)
                    #expect(outcome.body == Self.text)
                    #expect(outcome.fields["content-encoding"] ?? outcome.fields["Content-Encoding"] == "gzip")
                    let spoken = outcome.fields["x-protocol"] ?? outcome.fields["X-Protocol"]
                    #expect(spoken == (listen.contains("http2") ? "HTTP/2.0" : "HTTP/1.1"))
                }
            }
        }
        nginx.stop()
    }
}
#endif
