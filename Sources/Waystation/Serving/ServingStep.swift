import Foundation
import FoundationNetworking

/// What is to be done about a request next: each source of an answer ends in one of these.
enum ServingStep: Sendable {
    /// It is answered.
    case answer(Answer)
    /// It goes to the network through the transport.
    case forward(Forwarding)
    /// Foundation's own loader takes it, on the same task.
    case handBack
    /// Its body is a stream, which is to be read first; then it goes to the network through the transport.
    case spool(BodySpool)
    /// It fails.
    case fail(URLError)
    /// Something must be read first, away from the loading queue.
    case lookUp(LookUp)
    /// The request goes on in another form than the app gave it, and this step is for that form.
    indirect case changed(URLRequest, ServingStep)
    /// Something must be waited for that may take long, as somebody who logs in: within a load, which can be cancelled.
    case wait(Wait)
    /// This step is for a load under a login, and for nobody once that has ended.
    indirect case under(LoginTicket, ServingStep)
}

/// A wait that ends in the next step.
struct Wait: Sendable {
    /// Begins it; the completion is called once, on any thread.
    ///
    /// What comes back ends it before its time.
    let begin: @Sendable (_ completion: @escaping @Sendable (ServingStep) -> Void) -> @Sendable () -> Void
}

extension ServingStep {
    /// The step with something said about it, also where it has to be looked up first.
    func wrapped(_ wrap: @escaping @Sendable (ServingStep) -> ServingStep) -> ServingStep {
        guard case .lookUp(let lookUp) = self else { return wrap(self) }
        return .lookUp(LookUp { completion in lookUp.run { completion($0.wrapped(wrap)) } })
    }
}

/// A look-up that ends in the next step.
struct LookUp: Sendable {
    /// Starts it; the completion is called once, on any thread.
    let run: @Sendable (_ completion: @escaping @Sendable (ServingStep) -> Void) -> Void
}

/// An answer that is at hand.
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

        /// All of it.
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
    /// What is to be renewed once the answer is on its way (stale-while-revalidate).
    var renews: FetchPlan?
}

/// A request's way through the transport.
struct Forwarding: Sendable {
    /// What was found in the cache; nil when the cache takes no part.
    var cache: CacheFinding?
    /// How many times it was refused for want of credentials before.
    var failures = 0
}
