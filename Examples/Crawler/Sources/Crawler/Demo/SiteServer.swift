import FlyingFox
import FlyingSocks
import Foundation

/// Serves a directory on loopback, at a port that the system chooses.
enum SiteServer {
    /// Runs `body` with the server's address, such as `http://127.0.0.1:43210`, and stops the server after it.
    static func withServer<Value: Sendable>(
        for root: URL,
        _ body: @Sendable (_ address: String) async throws -> Value
    ) async throws -> Value {
        try await withServer(handler: SiteHandler(root: root), body)
    }

    static func withServer<Value: Sendable>(
        handler: some HTTPHandler,
        _ body: @Sendable (_ address: String) async throws -> Value
    ) async throws -> Value {
        let server = HTTPServer(
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: 0),
            pool: PromptPool(base: HTTPServer.defaultPool()),
            logger: .disabled,
            handler: handler
        )
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            try await server.waitUntilListening()
            guard case .ip4(let host, let port) = await server.listeningAddress else {
                throw SocketError.unsupportedAddress
            }
            let value: Value
            do {
                value = try await body("http://\(host):\(port)")
            } catch {
                group.cancelAll()
                throw error
            }
            await server.stop()
            group.cancelAll()
            return value
        }
    }
}

/// Answers GET and HEAD from files; a file `_redirects` at the root (lines of `/from /to 301`) adds redirects.
struct SiteHandler: HTTPHandler {
    private let root: String
    private let redirects: [String: (target: String, status: Int)]

    init(root: URL) {
        self.root = root.resolvingSymlinksInPath().path
        let list = Self.contents(of: root.appending(path: "_redirects").path) ?? Data()
        let text = String(decoding: list, as: UTF8.self)
        redirects = text.split(separator: "\n").reduce(into: [:]) { redirects, line in
            let words = line.split(separator: " ").map(String.init)
            if words.count == 3, let status = Int(words[2]) { redirects[words[0]] = (words[1], status) }
        }
    }

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard request.method == .GET || request.method == .HEAD else {
            return HTTPResponse(
                statusCode: .methodNotAllowed,
                headers: HTTPHeaders([HTTPHeader("Allow"): "GET, HEAD"]),
                body: Data()
            )
        }
        let path = request.target.path()
        if let redirect = redirects[path] {
            return Self.redirect(to: redirect.target, status: redirect.status)
        }
        guard var file = filePath(for: path) else { return HTTPResponse(statusCode: .notFound) }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory) else {
            return HTTPResponse(statusCode: .notFound)
        }
        if isDirectory.boolValue {
            // The relative links of an index page need the slash.
            guard path.hasSuffix("/") else {
                return Self.redirect(to: path + "/", status: 301)
            }
            file += "/index.html"
        }
        guard let body = Self.contents(of: file) else {
            return HTTPResponse(statusCode: .notFound)
        }
        let type = HTTPHeaders([.contentType: MediaTypes.type(forExtension: (file as NSString).pathExtension)])
        return HTTPResponse(
            statusCode: .ok,
            headers: type,
            body: HTTPBodySequence(data: body, suggestedBufferSize: 64 * 1024)
        )
    }

    /// The bytes of a file; nil if it cannot be read or has more than 64 MiB, more than a page of the demo needs.
    private static func contents(of file: String) -> Data? {
        let limit = 64 << 20
        guard let bytes = try? FileHandle(forReadingFrom: URL(filePath: file)).read(upToCount: limit + 1) ?? Data()
        else {
            return nil
        }
        return bytes.count <= limit ? bytes : nil
    }

    private static func redirect(to target: String, status: Int) -> HTTPResponse {
        HTTPResponse(
            statusCode: HTTPStatusCode(status, phrase: "Redirect"),
            headers: HTTPHeaders([.location: target]),
            body: Data()
        )
    }

    /// Nil for a path that would lead out of the root.
    private func filePath(for path: String) -> String? {
        guard let decoded = path.removingPercentEncoding, !decoded.utf8.contains(0) else { return nil }
        let segments = decoded.split(separator: "/")
        guard !segments.contains(".."), !segments.contains("_redirects") else { return nil }
        return ([root] + segments.map(String.init)).joined(separator: "/")
    }
}
