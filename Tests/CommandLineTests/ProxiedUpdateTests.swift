#if NIO
import Foundation
import Testing
import WaystationTestSupport
import WaystationTesting

/// Foundation trusts only the authorities of the system, and reads the environment of its process: so the tool loads.
@Suite("The tool behind a proxy that opens tunnels", .timeLimit(.minutes(20)))
struct ProxiedUpdateTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func run(
        _ arguments: [String],
        by proxy: ScriptedOrigin,
        trusting origin: SecuredOrigin,
        environment: [String: String] = [:]
    ) throws -> Tool.Outcome {
        try tool.write(["authority.pem": origin.authority])
        let own = ["https_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": "", "NO_PROXY": ""]
        return try tool.run(
            arguments,
            environment: own.merging(environment) { $1 },
            replacing: [ReplacedFiles.trustedAuthorities: tool.folder.appending(path: "authority.pem").path]
        )
    }

    private static let update =
        ["update", "--in", "library", "--app", "shop", "--app-version", "2.0", "--module", "shop"]

    private static func page(
        _ status: String,
        _ fields: String = "",
        _ body: String = "page"
    ) -> ScriptedOrigin.Response {
        let length = status.hasPrefix("304") ? "" : "Content-Length: \(body.utf8.count)\r\n"
        let text = "HTTP/1.1 \(status)\r\n\(fields)\(length)\r\n\(length.isEmpty ? "" : body)"
        return .raw(Data("HTTP/1.1 103 Early Hints\r\nX-Interim: 1\r\n\r\n\(text)".utf8))
    }

    @Test(
        "reports the status of the server, and takes no page for a pack",
        arguments: [
            ("404 Not Found", "", 3), ("304 Not Modified", "", 3), ("412 Precondition Failed", "", 3),
            ("401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", 3), ("302 Found", "", 3),
            ("302 Found", "Location: ftp://other.test/\r\n", 3),
            // A part that was not asked for is no refusal, but an answer that contradicts the request.
            ("206 Partial Content", "Content-Range: bytes 3-6/7\r\n", 1),
        ]
    )
    func statuses(status: String, fields: String, exitCode: Int32) async throws {
        let origin = try await SecuredOrigin(versions: .http1) { request in
            request.path == "/package"
                ? .ok(#"{"updatePackageVersion": "1.3", "updatePackageUrl": "/pack.zip", "status": 1}"#)
                : Self.page(status, fields)
        }
        let proxy = try ScriptedOrigin { _ in .tunnel(to: UInt16(origin.port)) }
        let updated = try run(
            Self.update + ["--single-url", origin.url("/package").absoluteString],
            by: proxy,
            trusting: origin
        )
        #expect(updated.status == exitCode, "\(updated)")
        #expect(updated.output.contains("answered with status \(status.prefix(3))"), "\(updated)")
        #expect(proxy.requests.contains { $0.method == "CONNECT" })
        #expect(origin.requests.contains { $0.path == "/pack.zip" })
    }

    @Test("installs a pack, and lists a bucket by the status of its store")
    func installs() async throws {
        try tool.buildPacks()
        let pack = try Data(contentsOf: tool.folder.appending(path: "1.3.zip"))
        let origin = try await SecuredOrigin(versions: .http1) { request in
            switch request.path {
            case "/package": .ok(#"{"updatePackageVersion": "1.3", "updatePackageUrl": "/1.3.zip", "status": 1}"#)
            case "/1.3.zip": .ok(pack)
            default: Self.page("403 Forbidden", "", "<Error><Code>AccessDenied</Code></Error>")
            }
        }
        let proxy = try ScriptedOrigin { _ in .tunnel(to: UInt16(origin.port)) }
        let updated = try run(
            Self.update + ["--single-url", origin.url("/package").absoluteString],
            by: proxy,
            trusting: origin
        )
        #expect(updated.output.hasPrefix("shop none → 1.3 by whole, "), "\(updated)")
        let listed = try run(
            ["list", "--to", "s3://releases/shop"],
            by: proxy,
            trusting: origin,
            environment: [
                "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s",
                "AWS_ENDPOINT_URL_S3": "https://localhost:\(origin.port)",
            ]
        )
        #expect(listed.status == 3)
        #expect(listed.errors.contains("the store answered 403 AccessDenied"), "\(listed)")
    }
}
#endif
