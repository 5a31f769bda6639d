import Foundation
import FoundationNetworking
import Measuring

/// A delegate that records every call, and answers the calls that need an answer as its scenario says.
///
/// Unchecked, since `NSObject` is not declared as `Sendable` on Linux: all properties here are immutable and
/// `Sendable`.
final class Observer: NSObject, @unchecked Sendable {
    enum Redirection: Sendable { case follow, refuse, change(to: String) }
    enum Challenge: Sendable { case credential(user: String, password: String), standard, cancel, reject }

    let sightings: Sightings
    let redirection: Redirection
    let challenge: Challenge
    let disposition: URLSession.ResponseDisposition
    let body: Data?
    let onData: (@Sendable (URLSession, URLSessionTask) -> Void)?
    let endsAtInvalidation: Bool

    init(
        _ sightings: Sightings,
        redirection: Redirection = .follow,
        challenge: Challenge = .standard,
        disposition: URLSession.ResponseDisposition = .allow,
        body: Data? = nil,
        endsAtInvalidation: Bool = false,
        onData: (@Sendable (URLSession, URLSessionTask) -> Void)? = nil
    ) {
        self.sightings = sightings
        self.redirection = redirection
        self.challenge = challenge
        self.disposition = disposition
        self.body = body
        self.endsAtInvalidation = endsAtInvalidation
        self.onData = onData
    }
}

extension Observer: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        let authorization = newRequest.value(forHTTPHeaderField: "Authorization").map { " with \($0)" } ?? ""
        let target = "\(newRequest.httpMethod ?? "") \(newRequest.url?.absoluteString ?? "")"
        sightings.call("redirect \(response.statusCode) to \(target)\(authorization)")
        switch redirection {
        case .follow: completionHandler(newRequest)
        case .refuse: completionHandler(nil)
        case .change(let target):
            var changed = newRequest
            changed.url = newRequest.url.flatMap { URL(string: target, relativeTo: $0)?.absoluteURL }
            completionHandler(changed)
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        let method = space.authenticationMethod.replacingOccurrences(of: "NSURLAuthenticationMethod", with: "")
        let status = (challenge.failureResponse as? HTTPURLResponse)?.statusCode ?? -1
        sightings.call(
            "challenge \(method) \(space.realm ?? "no realm") failures \(challenge.previousFailureCount) after \(status)"
        )
        switch self.challenge {
        // A credential that was refused more than once is not offered again.
        case .credential where challenge.previousFailureCount > 1:
            completionHandler(.cancelAuthenticationChallenge, nil)
        case .credential(let user, let password):
            completionHandler(.useCredential, URLCredential(user: user, password: password, persistence: .none))
        case .standard: completionHandler(.performDefaultHandling, nil)
        case .cancel: completionHandler(.cancelAuthenticationChallenge, nil)
        case .reject: completionHandler(.rejectProtectionSpace, nil)
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
        sightings.call("need body")
        completionHandler(body.map { InputStream(data: $0) })
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        sightings.call("sent", coalescing: true)
        sightings.note("sent", "\(totalBytesSent) of \(totalBytesExpectedToSend)")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        sightings.call("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        sightings.call("complete \(error.map(Sightings.describe) ?? "well")")
        sightings.note(task.response)
        sightings.note(error)
        note(counts: task)
        if !endsAtInvalidation { sightings.end() }
    }

    func note(counts task: URLSessionTask) {
        sightings.note("received", "\(task.countOfBytesReceived) of \(task.countOfBytesExpectedToReceive)")
        sightings.note("state", "\(task.state.rawValue)")
        sightings.note("current", task.currentRequest.map { "\($0.httpMethod ?? "") \($0.url?.absoluteString ?? "")" })
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        sightings.call("invalid \(error.map(Sightings.describe) ?? "well")")
        if endsAtInvalidation { sightings.end() }
    }
}

extension Observer: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        sightings.call("response \((response as? HTTPURLResponse)?.statusCode ?? -1)")
        completionHandler(disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        sightings.call("data", coalescing: true)
        sightings.receive(data)
        onData?(session, dataTask)
    }
}

extension Observer: URLSessionDownloadDelegate {
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        sightings.call("wrote", coalescing: true)
        sightings.note("written", "\(totalBytesWritten) of \(totalBytesExpectedToWrite)")
        onData?(session, downloadTask)
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo url: URL) {
        sightings.call("file")
        sightings.note("file", (try? Data(contentsOf: url)).map { "\(Fingerprint($0))" } ?? "unreadable")
    }
}

extension Observer: URLSessionWebSocketDelegate {
    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) {
        sightings.call("open")
    }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        sightings.call("close \(closeCode.rawValue)")
    }
}
