import Foundation
import FoundationNetworking

/// The next step for a request: each source of an answer ends in one of these.
enum ServingStep: Sendable {
    /// The request is answered.
    case answer(Answer)
    /// The request is sent through the transport.
    case forward(Forwarding)
    /// Foundation's own loader runs the request, on the same task.
    case handBack
    /// The body of the request is a stream, which is read first; then the request is sent through the transport.
    case spool(BodySpool)
    /// The load fails.
    case fail(URLError)
    /// Data must be read first, away from the loading queue.
    case lookUp(LookUp)
    /// The request was changed, and this step is for the changed request.
    indirect case changed(URLRequest, ServingStep)
    /// The load must wait for something that may take long, such as a login.
    ///
    /// A load that waits can be cancelled.
    case wait(Wait)
    /// This step is for a load under a login; it must not be taken once the login has ended.
    indirect case under(LoginTicket, ServingStep)
}

/// A wait that ends in the next step.
struct Wait: Sendable {
    /// Begins to wait; the completion is called once, on any thread.
    ///
    /// The returned closure ends the wait early.
    let begin: @Sendable (_ completion: @escaping @Sendable (ServingStep) -> Void) -> @Sendable () -> Void
}

extension ServingStep {
    /// Wraps the step; a step that must be looked up first is wrapped after the look-up.
    func wrapped(_ wrap: @escaping @Sendable (ServingStep) -> ServingStep) -> ServingStep {
        guard case .lookUp(let lookUp) = self else { return wrap(self) }
        return .lookUp(LookUp { completion in lookUp.run { completion($0.wrapped(wrap)) } })
    }
}

/// A look-up that ends in the next step.
struct LookUp: Sendable {
    /// Starts the look-up; the completion is called once, on any thread.
    let run: @Sendable (_ completion: @escaping @Sendable (ServingStep) -> Void) -> Void
}

/// An answer that is available.
struct Answer: Sendable {
    enum Body: Sendable {
        case data(Data)
        case source(any BodySource)

        var length: Int {
            switch self {
            case .data(let data): data.count
            case .source(let source): source.length
            }
        }

        /// The whole body.
        var contents: Data {
            get throws {
                switch self {
                case .data(let data): data
                case .source(let source): try source.read(at: 0, count: source.length)
                }
            }
        }
    }

    var response: HTTPURLResponse
    var body: Body
    var source: LoadEvent.Source
    /// The fetch that renews the response after the answer was delivered (stale-while-revalidate).
    var renews: FetchPlan?
}

/// How a request is sent through the transport.
struct Forwarding: Sendable {
    /// The finding for the request; nil when the cache takes no part.
    var cache: CacheFinding?
    /// The number of times that the request was already refused for missing credentials.
    var failures = 0
}
