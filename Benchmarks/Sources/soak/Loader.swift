import Foundation
import FoundationNetworking
import Synchronization

/// How a load ended.
enum Ending: Sendable {
    case body(Data, HTTPURLResponse)
    case failed(URLError.Code, String)
}

/// One session, with a way to wait for its loads.
final class Loader: Sendable {
    private let session: URLSession
    private let collector: Collector?

    /// Makes a session.
    ///
    /// If `usesDelegate` is true its delegate assembles the bodies, otherwise Foundation does.
    init(_ configuration: URLSessionConfiguration, usesDelegate: Bool) {
        collector = usesDelegate ? Collector() : nil
        session = URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
    }

    /// Loads a URL, and cancels the load after `microseconds` if they are given.
    func load(_ url: URL, cancelAfter microseconds: Int?) async -> Ending {
        await withCheckedContinuation { continuation in
            let task: URLSessionTask
            if let collector {
                task = session.dataTask(with: url)
                collector.expect(task) { continuation.resume(returning: $0) }
            } else {
                task = session.dataTask(with: url) { data, response, error in
                    continuation.resume(returning: Ending(data, response, error))
                }
            }
            task.resume()
            guard let microseconds else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) { task.cancel() }
        }
    }
}

extension Ending {
    init(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        if let error {
            self = .failed((error as? URLError)?.code ?? .unknown, "\(error)")
        } else if let response = response as? HTTPURLResponse {
            self = .body(data ?? Data(), response)
        } else {
            self = .failed(.badServerResponse, "neither an error nor a response")
        }
    }
}

/// Assembles the bodies of a session's loads.
private final class Collector: NSObject, URLSessionDataDelegate, Sendable {
    private struct Collected {
        var body = Data()
        let ended: @Sendable (Ending) -> Void
    }

    private let collected = Mutex<[Int: Collected]>([:])

    func expect(_ task: URLSessionTask, _ ended: @escaping @Sendable (Ending) -> Void) {
        collected.withLock { $0[task.taskIdentifier] = Collected(ended: ended) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        collected.withLock { $0[dataTask.taskIdentifier]?.body.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let ended = collected.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        // A second end of a task finds no entry here, and appears as a wrong count of ends.
        ended?.ended(Ending(ended?.body, task.response, error))
    }
}
