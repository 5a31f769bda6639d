import Foundation
import FoundationNetworking
import Glibc
import Synchronization

/// A 401 that is the final answer.
///
/// When a task ends with a 401 whose challenge Foundation understands, it asks for credentials again, and on this
/// toolchain waits for ever where nobody gives any. It finds the challenge by the response's URL; this response has
/// none while the task is being ended, for the thread that ends it.
final class UnchallengedResponse: HTTPURLResponse, @unchecked Sendable {
    // `@unchecked` because the superclass is; the only state added here is atomic.
    fileprivate let concludingThread = Atomic<UInt>(0)

    override var url: URL? { concludingThread.load(ordering: .relaxed) == currentThread ? nil : super.url }

    /// The same response, or a copy that Foundation raises no challenge for.
    static func settling(_ response: HTTPURLResponse) -> HTTPURLResponse {
        guard response.statusCode == 401, !(response is UnchallengedResponse), let url = response.url else {
            return response
        }
        let fields = response.allHeaderFields as? [String: String]
        return UnchallengedResponse(url: url, statusCode: 401, httpVersion: "HTTP/1.1", headerFields: fields)
            ?? response
    }
}

/// The calling thread; never zero.
private var currentThread: UInt { UInt(pthread_self()) }

extension UnchallengedResponse? {
    /// Ends a task by `body`, with the challenge out of sight.
    func concluding(_ body: () -> Void) {
        self?.concludingThread.store(currentThread, ordering: .relaxed)
        body()
        self?.concludingThread.store(0, ordering: .relaxed)
    }
}
