#if Gateway
import Foundation
import FoundationNetworking
import Testing
import WaystationProcesses
import WaystationTestSupport

/// A gateway's process, which is killed at the end of a test if it still runs.
final class GatewayProcess: Sendable {
    let process: SpawnedProcess
    /// The lines up to the one that names the port.
    let lines: [String]
    let port: Int

    init(_ process: SpawnedProcess) async throws {
        self.process = process
        lines = await process.lines { $0.hasPrefix("listening on port ") || $0.hasPrefix("{") }
        let digits = lines.last?.firstMatch(of: #/port"?[ :](\d+)/#)?.1
        port = digits.flatMap { Int($0) } ?? 0
    }

    deinit { process.send(SIGKILL) }

    func end(by signal: Int32) async -> SpawnedProcess.Ending {
        process.send(signal)
        return await Self.apart { [process] in process.wait() }
    }

    /// The head of the response to a GET at a host; redirects are not followed.
    func send(_ host: String, _ path: String, cookie: String? = nil) async throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        var request = URLRequest(url: url)
        request.setValue("\(host):\(port)", forHTTPHeaderField: "Host")
        request.setValue(cookie, forHTTPHeaderField: "Cookie")
        let session = URLSession(configuration: .ephemeral, delegate: NoRedirects(), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        return try #require(try await session.data(for: request).1 as? HTTPURLResponse)
    }

    private final class NoRedirects: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping (URLRequest?) -> Void
        ) { completionHandler(nil) }
    }

    /// The response to a GET at a host.
    func get(_ host: String, _ path: String) async throws -> (status: Int, text: String) {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        var request = URLRequest(url: url)
        request.setValue("\(host):\(port)", forHTTPHeaderField: "Host")
        let (data, response) = try await URLSession(configuration: .ephemeral).data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }

    /// Waits on a thread of its own.
    static func apart<Value: Sendable>(_ wait: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: wait()) }
        }
    }
}
#endif
