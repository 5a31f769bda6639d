import Foundation
import WaystationCaching
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The decision of the stations about a hop.
enum Verdict: Sendable {
    /// The request is answered.
    case answer(Answer)
    /// The network is asked on behalf of the cache.
    case fetch(CacheFinding, CacheDecision.Fetch)
    /// The request is sent to the network, without the cache.
    case send
    /// The request is sent through the transport of its rule; a body that is a stream is read first if there is a spool.
    case carry(any Transport, spoolingInto: BodySpool?)
    /// Foundation's own loader runs the request, on the same task.
    case handBack
    /// The body of the request is a stream, which is read first; then the request is sent to the network.
    case spool(BodySpool)
    /// The request is passed to the app's handler of external links.
    case open(ExternalLinks)
    /// The load fails.
    case fail(URLError)
    /// Data must be read first, away from the loading queue.
    case lookUp(LookUp)
    /// The load must wait for something that may take long, such as a login.
    ///
    /// A load that waits can be cancelled.
    case wait(Wait)
}

/// A look-up that ends in the verdict about the same hop.
struct LookUp: Sendable {
    /// Makes the look-up on the calling thread if it need not wait for a disk; otherwise returns nil.
    ///
    /// If it may not read, it only finds out that nothing is stored.
    var inMemory: @Sendable (_ mayRead: Bool) -> Verdict? = { _ in nil }
    /// Starts the look-up; the completion is called once, on any thread.
    let run: @Sendable (_ completion: @escaping @Sendable (Verdict) -> Void) -> Void
}

/// A wait, after which the hop may have changed.
struct Wait: Sendable {
    /// Begins to wait; the completion is called once, on any thread.
    ///
    /// The returned closure ends the wait early.
    let begin: @Sendable (_ completion: @escaping @Sendable (Visit) -> Void) -> @Sendable () -> Void
}

/// A hop, and the verdict of the stations about it.
struct Visit: Sendable {
    let hop: Hop
    let verdict: Verdict

    init(_ hop: Hop, _ verdict: Verdict) {
        self.hop = hop
        self.verdict = verdict
    }
}
