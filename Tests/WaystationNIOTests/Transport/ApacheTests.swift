#if NIO
import Foundation
import FoundationNetworking
import Testing
import WaystationProcesses
import WaystationTestSupport

@testable import WaystationNIO

@Suite("Apache", .timeLimit(.minutes(10)))
struct ApacheTests {
    private static let text = Data(String(repeating: "hello Apache ", count: 20_000).utf8)
    private static let body = Data((0..<3_000_000).map { UInt8($0 % 251) })

    /// The ways to reach Apache.
    enum Way: String, CaseIterable {
        case plain, tls
        /// HTTP/2, which the TLS handshake chooses.
        case http2
        /// HTTP/2 without TLS, which the client knows beforehand.
        case priorKnowledge

        var isSecure: Bool { self == .tls || self == .http2 }
        var version: String { self == .http2 || self == .priorKnowledge ? "HTTP/2.0" : "HTTP/1.1" }
    }

    /// Apache, with two programs that return what they are sent, and a transport that reaches it.
    private struct Stage {
        let apache: Apache
        let transport: NIOTransport
        let way: Way

        init(_ way: Way) throws {
            self.way = way
            let certificates = try Certificates.shared.get()
            let security = """
                SSLEngine on
                SSLCertificateFile \(certificates.path("name.pem"))
                SSLCertificateKeyFile \(certificates.path("name.key"))
                """
            apache = try Apache(
                modules: ["cgi", "deflate", "env", "filter", "headers", "http2", "ssl"],
                directives: """
                    Protocols \(way == .tls ? "http/1.1" : "h2 h2c http/1.1")
                    MaxKeepAliveRequests 20
                    H2MaxSessionStreams 20
                    AddOutputFilterByType DEFLATE text/plain
                    Header always set X-Protocol expr=%{SERVER_PROTOCOL}
                    \(way.isSecure ? security : "")
                    <FilesMatch "\\.cgi$">
                        SetHandler cgi-script
                        Options +ExecCGI
                    </FilesMatch>
                    <Files limited.cgi>
                        LimitRequestBody 1000
                    </Files>
                    """
            )
            try apache.serve(ApacheTests.text, at: "a.txt")
            let program = """
                #!/bin/sh
                body=$(mktemp) && cat >"$body"
                printf 'Content-Type: application/octet-stream\\n\\n'
                cat "$body"; rm "$body"

                """
            try apache.serve(Data(program.utf8), at: "program")
            for name in ["echo.cgi", "limited.cgi"] {
                // Another process writes the copy: a process that a test starts meanwhile would inherit the open file
                // from this one, and a file that is open for writing cannot be run.
                let copy = try SpawnedProcess.run(
                    "/usr/bin/install",
                    ["-m", "755", "program", name],
                    in: apache.root
                )
                #expect(copy.ending == .exited(0))
            }
            var options = NIOOptions()
            options.environment = [:]
            options.additionalTrustedRoots = [.pemFile(path: certificates.path("ca.pem"))]
            if way == .priorKnowledge { options.httpVersions = .http2PriorKnowledge }
            transport = NIOTransport(configuration: .ephemeral, options: options)
        }

        func request(_ path: String, _ change: (inout URLRequest) -> Void = { _ in }) -> URLRequest {
            URLRequest("\(way.isSecure ? "https" : "http")://localhost:\(apache.port)/\(path)", change)
        }

        func load(_ path: String, _ change: (inout URLRequest) -> Void = { _ in }) async -> Recorder.Outcome {
            let outcome = await transport.load(request(path, change))
            #expect(outcome.error == nil)
            #expect(outcome.field("X-Protocol") == way.version)
            return outcome
        }
    }

    @Test(
        "answers many loads at once whole, although it ends its connections again and again",
        arguments: Way.allCases
    )
    func many(way: Way) async throws {
        let stage = try Stage(way)
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    let outcome = await stage.load("a.txt")
                    #expect(outcome.status == 200)
                    #expect(outcome.has(Self.text))
                    #expect(outcome.field("Content-Encoding") == "gzip")
                }
            }
        }
    }

    @Test("gets uploads whole, and returns them while others are under way", arguments: Way.allCases)
    func uploads(way: Way) async throws {
        let stage = try Stage(way)
        await withTaskGroup { group in
            for count in [0, 1, 70_000, 1_000_000, 3_000_000] {
                group.addTask {
                    let body = Self.body.prefix(count)
                    let outcome = await stage.load("echo.cgi") {
                        $0.httpMethod = "POST"
                        $0.httpBody = body
                    }
                    #expect(outcome.status == 200)
                    #expect(outcome.has(body))
                }
            }
        }
    }

    @Test("answers HEAD, conditional requests and ranges without what they leave out", arguments: Way.allCases)
    func partial(way: Way) async throws {
        let stage = try Stage(way)
        // Coded bodies have other lengths and tags.
        let plain: (inout URLRequest) -> Void = { $0.setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
        let head = await stage.load("a.txt") {
            plain(&$0)
            $0.httpMethod = "HEAD"
        }
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(head.field("Content-Length") == "\(Self.text.count)")
        let tag = try #require(head.field("ETag"))
        let unchanged = await stage.load("a.txt") {
            plain(&$0)
            $0.setValue(tag, forHTTPHeaderField: "If-None-Match")
        }
        #expect(unchanged.status == 304)
        #expect(unchanged.body.isEmpty)
        let range = await stage.load("a.txt") {
            plain(&$0)
            $0.setValue("bytes=13-25", forHTTPHeaderField: "Range")
        }
        #expect(range.status == 206)
        #expect(range.text == "hello Apache ")
        let missing = await stage.load("missing")
        #expect(missing.status == 404)
    }

    @Test("refuses a body that is too large before it has read it", arguments: [Way.plain, .tls])
    func tooLarge(way: Way) async throws {
        let stage = try Stage(way)
        for _ in 0..<20 {
            let outcome = await stage.load("limited.cgi") {
                $0.httpMethod = "POST"
                $0.httpBody = Self.body
            }
            #expect(outcome.status == 413)
            #expect(outcome.text.contains("Request Entity Too Large"))
        }
        #expect(await stage.load("a.txt").has(Self.text))
    }

    @Test("that has stopped cannot be connected to, although a connection to it was kept", arguments: Way.allCases)
    func stopped(way: Way) async throws {
        let stage = try Stage(way)
        #expect(await stage.load("a.txt").has(Self.text))
        stage.apache.stop()
        #expect(await stage.transport.load(stage.request("a.txt")).code == .cannotConnectToHost)
    }
}

extension Recorder.Outcome {
    /// Whether the body is this one; for large bodies, whose difference a failed `==` would take minutes to describe.
    func has(_ body: Data) -> Bool { self.body == body }

    /// The value of a field, whose name HTTP/2 spells in lower case.
    func field(_ name: String) -> String? { fields[name] ?? fields[name.lowercased()] }
}
#endif
