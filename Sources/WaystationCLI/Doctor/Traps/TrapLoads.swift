import Foundation
import Waystation
import WaystationOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads that show whether a trap is there, by a plain session or by one that Waystation intercepts.
struct TrapLoads {
    private let way: Trap.Way

    init(_ way: Trap.Way) { self.way = way }

    /// Makes the loads that try out a trap, and returns what went wrong.
    ///
    /// - Returns: A description of the fault; nil if the loads behaved correctly.
    func fault(of trap: Trap) async throws -> String? {
        switch trap {
        case .redirectOfProtocol: try await redirectOfProtocol()
        case .partsOfBody: try await partsOfBody()
        case .storedResponse: try await storedResponse()
        case .registeredClass: try await registeredClass()
        case .pathOfCookie: try await pathOfCookie()
        case .bodyAfterRedirect: try await bodyAfterRedirect()
        case .interimResponse: try await interimResponse()
        case .trailer: try await trailer()
        }
    }

    // MARK: - Protocols

    private func redirectOfProtocol() async throws -> String? {
        let origin = try ScriptedOrigin { $0.path == "/from" ? .redirect(302, to: "/to") : .ok("arrived") }
        let session = try session(through: RedirectingProtocol.self, cookies: CookieStore())
        let (data, _) = try await session.data(from: origin.url("/from"))
        return String(decoding: data, as: UTF8.self) == "arrived" ? nil : "the redirect is not followed"
    }

    private func partsOfBody() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .stream([.bytes(Data("first".utf8)), .bytes(Data("second".utf8))]) }
        let session = try session(through: TwoPartProtocol.self, cookies: CookieStore())
        let data = await withCheckedContinuation { continuation in
            session.dataTask(with: origin.url()) { data, _, _ in continuation.resume(returning: data ?? Data()) }
                .resume()
        }
        let text = String(decoding: data, as: UTF8.self)
        return text == "firstsecond"
            ? nil : "a completion handler gets only the last part of a protocol's body, “\(text)”"
    }

    private func registeredClass() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .status(404) }
        let folder = try TemporaryFolder(["page.txt": "firstsecond"])
        _ = URLProtocol.registerClass(TwoPartProtocol.self)
        let session = try session { configuration in
            configuration.rules = [
                .allow("http://127.0.0.1:*/**", via: .files(in: folder.url, at: origin.url().absoluteString))
            ]
        }
        let (_, response) = try await session.data(from: origin.url("/page.txt"))
        return response.status == 200 ? nil : "the load goes past a registered class"
    }

    // MARK: - Loads over loopback

    private func storedResponse() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok("stored", fields: ["Cache-Control": "max-age=3600"]) }
        let folder = try TemporaryFolder()
        let session = try session { configuration in
            configuration.cache = try ResponseCache(directory: folder.url.appending(path: "cache"))
            configuration.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
        } plain: { configuration in
            configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        }
        for _ in 0..<2 { _ = try await session.data(from: origin.url("/a")) }
        return origin.requestCount == 1 ? nil : "URLCache stores nothing: two loads are two requests"
    }

    private func pathOfCookie() async throws -> String? {
        let origin = try ScriptedOrigin { request in
            request.path.hasPrefix("/shop") ? .ok("", fields: ["Set-Cookie": "id=1; Path=/shop"]) : .ok()
        }
        let session = try session(through: nil, cookies: CookieStore())
        for path in ["/shop/", "/other"] { _ = try await session.data(from: origin.url(path)) }
        let sent = origin.requests.last?.value(of: "Cookie")
        return sent == nil ? nil : "a cookie of /shop is sent to /other"
    }

    private func bodyAfterRedirect() async throws -> String? {
        let origin = try ScriptedOrigin { $0.path == "/from" ? .redirect(307, to: "/to") : .ok() }
        var request = URLRequest(url: origin.url("/from"))
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        let session = try session(through: nil, cookies: CookieStore())
        _ = try await session.data(for: request)
        let arrived = origin.requests.last
        guard arrived?.path == "/to", arrived?.method == "POST" else { return "the redirect is not followed by POST" }
        return arrived?.body == Data("body".utf8) ? nil : "POST follows a redirect with 307 without its body"
    }

    private func interimResponse() async throws -> String? {
        let bytes = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let origin = try ScriptedOrigin { _ in .raw(Data(bytes.utf8)) }
        let delegate = FirstResponse()
        let configuration = try self.configuration { configuration in
            configuration.cookies = CookieStore()
            configuration.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
        }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: origin.url()).resume()
        let status = await delegate.status
        return status == 200 ? nil : "the delegate gets the status \(status) of an interim response"
    }

    private func trailer() async throws -> String? {
        let bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n"
        let origin = try ScriptedOrigin { _ in .raw(Data(bytes.utf8)) }
        let session = try session(through: nil, cookies: CookieStore())
        let (data, _) = try await session.data(from: origin.url())
        return data == Data("ok".utf8) ? nil : "the body is not what was sent"
    }

    // MARK: - Sessions

    /// A session whose loads reach a protocol class, or which Waystation intercepts.
    private func session(through plainClass: AnyClass?, cookies: CookieStore) throws -> URLSession {
        try session { configuration in
            configuration.cookies = cookies
            configuration.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
        } plain: { configuration in
            if let plainClass { configuration.protocolClasses = [plainClass] + (configuration.protocolClasses ?? []) }
        }
    }

    private func session(
        _ configure: (inout Interceptor.Configuration) throws -> Void,
        plain: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> URLSession {
        URLSession(configuration: try configuration(configure, plain: plain))
    }

    private func configuration(
        _ configure: (inout Interceptor.Configuration) throws -> Void,
        plain: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        guard way == .waystation else {
            plain(configuration)
            return configuration
        }
        return configuration.intercepted(by: try Interceptor(configure))
    }
}

extension URLResponse {
    fileprivate var status: Int { (self as? HTTPURLResponse)?.statusCode ?? 0 }
}
