#if NIO
import Foundation
import FoundationNetworking
import Glibc
import Testing

@testable import WaystationNIO

@Suite("A real server", .timeLimit(.minutes(10)))
struct RealServerTests {
    /// A server of Python's standard library, which serves a folder.
    private final class Server {
        let port: Int
        let folder: URL
        private let process = Process()

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("server-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let script = """
                import http.server, functools
                class Handler(http.server.SimpleHTTPRequestHandler):
                    protocol_version = 'HTTP/1.1'
                    def log_message(self, *arguments): pass
                    def do_POST(self):
                        body = self.rfile.read(int(self.headers['Content-Length']))
                        self.send_response(200)
                        self.send_header('Content-Length', str(len(body)))
                        self.end_headers()
                        self.wfile.write(body[::-1])
                server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Handler, directory='\(folder.path)'))
                print(server.server_address[1], flush=True)
                server.serve_forever()
                """
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["python3", "-c", script]
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            process.standardInput = FileHandle.nullDevice
            try process.run()
            let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
        }

        deinit {
            // The child inherits a signal mask that can hold back SIGTERM.
            kill(process.processIdentifier, SIGKILL)
            try? FileManager.default.removeItem(at: folder)
        }
    }

    @Test("serves files, many at a time, and answers posts")
    func files() async throws {
        let server = try Server()
        let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try content.write(to: server.folder.appendingPathComponent("file"))
        let transport = NIOTransport.plain()
        let url = "http://127.0.0.1:\(server.port)/file"
        let recorders = (0..<60).map { _ in Recorder() }
        for recorder in recorders { _ = transport.start(URLRequest(url), receiver: recorder) }
        for recorder in recorders {
            let outcome = await recorder.end()
            #expect(outcome.status == 200)
            #expect(outcome.body == content)
            #expect(outcome.error == nil)
        }
        let missing = await transport.load("http://127.0.0.1:\(server.port)/missing")
        #expect(missing.status == 404)
        let post = await transport.load(
            URLRequest(url) {
                $0.httpMethod = "POST"
                $0.httpBody = Data("abc".utf8)
            }
        )
        #expect(post.text == "cba")
        let head = await transport.load(URLRequest(url) { $0.httpMethod = "HEAD" })
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(head.fields["Content-Length"] == "100000")
    }
}
#endif
