import Synchronization
package import WaystationFoundation

/// Collects the progress and the file of one download.
package final class DownloadCollector: NSObject, URLSessionDownloadDelegate {
    /// The numbers of bytes in one report: of the part, of all parts so far, and of the whole body.
    package struct Part: Sendable {
        package let count: Int64
        package let total: Int64
        package let expected: Int64
    }

    private struct State {
        var told: [Part] = []
        var text = ""
        var continuation: CheckedContinuation<(any Error)?, Never>?
    }

    private let state = Mutex(State())

    package var told: [Part] { state.withLock(\.told) }
    /// The contents of the file.
    package var text: String { state.withLock(\.text) }

    package override init() { super.init() }

    /// Runs the task; returns the error with which it ends.
    package func run(_ task: URLSessionTask) async -> (any Error)? {
        await withCheckedContinuation { continuation in
            state.withLock { $0.continuation = continuation }
            task.resume()
        }
    }

    package func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo file: URL
    ) {
        let text = (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        state.withLock { $0.text = text }
        try? FileManager.default.removeItem(at: file)
    }

    package func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData count: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        state.withLock {
            $0.told.append(Part(count: count, total: totalBytesWritten, expected: totalBytesExpectedToWrite))
        }
    }

    package func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let continuation = state.withLock { $0.continuation.take() }
        continuation?.resume(returning: error)
    }
}
