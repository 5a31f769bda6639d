#if NIO
import Synchronization

/// The parts of the URL that was read last: one request asks for them several times.
final class LastURLParts: Sendable {
    private struct Last: Sendable {
        let url: String
        let parts: URLParts?
    }

    private let last = Mutex<Last?>(nil)

    /// The parts of a URL; nil unless it can be connected to.
    func parts(of url: String) -> URLParts? {
        if let known = last.withLock({ $0 }), known.url == url { return known.parts }
        let parts = URLParts(url)
        last.withLock { $0 = Last(url: url, parts: parts) }
        return parts
    }
}
#endif
