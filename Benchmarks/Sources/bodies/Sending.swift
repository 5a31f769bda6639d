import Foundation
import FoundationNetworking
import Measuring
import Synchronization
import Waystation

/// Sends a file's bytes as the body of a request, through an interceptor.
final class Sending: NSObject, URLSessionDataDelegate {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// The way in which the app provides a body.
    enum Form: String, CaseIterable {
        case data, stream, uploadData, uploadFile, uploadStream

        /// Whether only Foundation sees the body.
        var isUpload: Bool { self != .data && self != .stream }

        /// Whether the body never has to be in memory as a whole.
        var isFlat: Bool { self != .data && self != .uploadData }
    }

    private struct State {
        var file: URL?
        var waiter: CheckedContinuation<Void, any Error>?
    }

    private let form: Form
    private let method: String
    private let url: URL
    private let interceptor: Interceptor
    private let state = Mutex(State())

    init(_ form: Form, method: String, to url: URL) throws {
        self.form = form
        self.method = method
        self.url = url
        interceptor = try Interceptor { $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)] }
    }

    /// Sends the bytes of a file, and waits for the answer.
    func send(_ file: URL) async throws {
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: interceptor)
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        let task: URLSessionTask
        switch form {
        case .data:
            request.httpBody = try Data(contentsOf: file)
            task = session.dataTask(with: request)
        case .stream:
            request.httpBodyStream = InputStream(url: file)
            task = session.dataTask(with: request)
        case .uploadData: task = session.uploadTask(with: request, from: try Data(contentsOf: file))
        case .uploadFile: task = session.uploadTask(with: request, fromFile: file)
        case .uploadStream: task = session.uploadTask(withStreamedRequest: request)
        }
        try await withCheckedThrowingContinuation { continuation in
            state.withLock { $0 = State(file: file, waiter: continuation) }
            task.resume()
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @Sendable @escaping (InputStream?) -> Void
    ) {
        completionHandler(state.withLock { $0.file }.flatMap { InputStream(url: $0) })
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
        if let error {
            waiter?.resume(throwing: error)
        } else if status != 200 {
            waiter?.resume(throwing: Failure(description: "answered with \(status)"))
        } else {
            waiter?.resume()
        }
    }
}
