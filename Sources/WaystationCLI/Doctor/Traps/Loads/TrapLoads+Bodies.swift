import Foundation
import Waystation
import WaystationOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads that send a body.
extension TrapLoads {
    func bodyAfterRedirect() async throws -> String? {
        let origin = try ScriptedOrigin { $0.path == "/from" ? .redirect(307, to: "/to") : .ok() }
        _ = try await session().data(for: post(to: origin.url("/from")))
        let arrived = origin.requests.last
        guard arrived?.path == "/to", arrived?.method == "POST" else { return "the redirect is not followed by POST" }
        return arrived?.body == Self.body ? nil : "POST follows a redirect with 307 without its body"
    }

    func framingOfStream() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok() }
        var request = post(to: origin.url(), InputStream(data: Self.body))
        request.setValue("\(Self.body.count)", forHTTPHeaderField: "Content-Length")
        _ = try await session().data(for: request)
        let framings = ["Content-Length", "Transfer-Encoding"].filter { origin.requests.last?.value(of: $0) != nil }
        return framings.count == 1 ? nil : "a stream is sent with \(framings.joined(separator: " and "))"
    }

    func closedStream() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok() }
        let stream = InputStream(data: Self.body)
        stream.open()
        stream.close()
        let session = try session(through: StreamProtocol.self)
        let code = await error(of: post(to: origin.url(), stream), session)
        return code == .requestBodyStreamExhausted ? nil : "the load does not fail because of its stream"
    }

    func droppedConnection() async throws -> String? {
        // The first load leaves a connection, which the server drops when it has the second request.
        let origin = try ScriptedOrigin { $0.path == "/to" && $0.connection == 0 ? .closed : .ok() }
        let session = try session()
        _ = try await session.data(from: origin.url("/from"))
        let request = post(to: origin.url("/to"))
        let isEnded = await end {
            await error(of: request, session)
        } before: {
            await origin.waitForRequests(2)
            await otherLoads(session, origin)
        }
        return isEnded == nil ? "the load does not end" : nil
    }

    private static let body = Data("body".utf8)

    private func post(to url: URL, _ stream: InputStream? = nil) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        if let stream { request.httpBodyStream = stream } else { request.httpBody = Self.body }
        return request
    }
}
