#if Gateway
import NIOCore
import NIOHTTP1
import Waystation
import WaystationFoundation

/// One request of a connection and its response: the client of a load.
///
/// All its work is done on the event loop of the connection.
final class GatewayExchange: JourneyClient {
    private struct State {
        let writer: ResponseWriter
        let endResponse: (_ closes: Bool) -> Void
        var journey: Journey?
        var framing: ResponseFraming?
        /// Rewrites the links of the body, if the app asks for it.
        var rewriter: BodyRewriter?
        /// The number of bytes of the body that were written.
        var written = 0
        /// Work that waits until the client has taken what was written.
        var waiting: [@Sendable () -> Void] = []
        var isOver = false
        /// Whether the body of the request is still arriving.
        var isUploading = false
        /// Whether the head of the response says that the connection ends with it.
        var saysClose = false
    }

    private let channel: any Channel
    private let serving: GatewayServing
    private let accepted: GatewayServing.Accepted
    let head: HTTPRequestHead
    private let state: NIOLoopBoundBox<State>

    /// Makes the exchange of a request; call it on the channel's event loop.
    ///
    /// - Parameters:
    ///   - accepted: The request without its body.
    ///   - head: The head as it arrived.
    ///   - channel: The connection.
    ///   - writer: Writes the response.
    ///   - serving: The parts that all connections share.
    ///   - endResponse: Writes the end of the response; called once, on the event loop, unless the connection is
    ///     closed instead.
    init(
        _ accepted: GatewayServing.Accepted,
        _ head: HTTPRequestHead,
        on channel: any Channel,
        _ writer: ResponseWriter,
        _ serving: GatewayServing,
        endResponse: @escaping (_ closes: Bool) -> Void
    ) {
        self.channel = channel
        self.serving = serving
        self.accepted = accepted
        self.head = head
        state = NIOLoopBoundBox(State(writer: writer, endResponse: endResponse), eventLoop: channel.eventLoop)
    }

    /// Begins the load of the request.
    ///
    /// - Returns: The load, if it has ended at once and its response was written.
    @discardableResult
    func begin(_ request: URLRequest) -> AnsweredLoad? {
        let begun = serving.loads.begin(request, for: self, sendsUnclaimed: serving.options.forwardsUnclaimed)
        switch begun {
        case .answered(let load):
            write(load.head)
            if !load.body.isEmpty { write(load.body) }
            end(nil)
            return load
        case .journey(let journey): state.value.journey = journey
        case nil: end(Refusal.unclaimed(request.url?.absoluteString ?? ""))
        }
        return nil
    }

    // MARK: - The connection's side

    /// Whether the body of the request is still arriving.
    ///
    /// A response that begins before its end closes the connection.
    var isUploading: Bool {
        get { state.value.isUploading }
        set { state.value.isUploading = newValue }
    }

    /// Whether the head of the response was written.
    var hasHead: Bool { state.value.framing != nil }

    /// The client has left.
    func cancel() {
        let isWhole = if case .length(let length) = state.value.framing { state.value.written == length } else { false }
        state.value.isOver = true
        let waiting = state.value.waiting
        state.value.waiting = []
        let journey = state.value.journey.take()
        // A client that knows the length may leave before the load has reported its end.
        guard isWhole else {
            journey?.cancel()
            return
        }
        for work in waiting { work() }
        journey?.continueDelivery()
    }

    /// The connection takes bytes again.
    func becameWritable() {
        let waiting = state.value.waiting
        state.value.waiting = []
        for work in waiting { work() }
        state.value.journey?.continueDelivery()
    }

    // MARK: - JourneyClient

    var decidesAboutRedirects: Bool { true }
    var isReachable: Bool { true }
    var pieceLength: Int? { 512 << 10 }
    // After the client has left, the rest of a whole response is only to be finished.
    var isReady: Bool { channel.isWritable || !channel.isActive }

    func perform(_ work: @escaping @Sendable () -> Void) { channel.eventLoop.execute(work) }

    var needsResponse: Bool { false }

    func take(_ head: ResponseHead, _ decide: @escaping @Sendable (Bool) -> Void) -> Bool {
        write(head)
        return true
    }

    func take(_ part: Data, of journey: Journey) { write(part) }

    func whenPassedOn(_ work: @escaping @Sendable () -> Void) {
        // A connection that has ended stays as it was, and would never become writable.
        guard channel.isActive, !channel.isWritable else { return work() }
        state.value.waiting.append(work)
    }

    func didSend(_ count: Int64, total: Int64, expected: Int64) {}

    /// The browser follows redirects itself, so that it shows the URL of the page.
    func follow(_ response: HTTPURLResponse, to next: URLRequest, _ answer: @escaping @Sendable (URLRequest?) -> Void) {
        answer(nil)
    }

    /// The browser asks the user itself.
    func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completion: @escaping @Sendable (ChallengeAnswer) -> Void
    ) {
        completion(.complete)
    }

    func handBack() -> Bool { false }

    func end(_ error: (any Error)?) {
        guard !state.value.isOver else { return }
        state.value.journey = nil
        if error == nil, let rest = state.value.rewriter?.finish() { writeBody(rest) }
        state.value.isOver = true
        guard let framing = state.value.framing else {
            if error.isOpenedElsewhere { return writeNothing() }
            return refuse((error as? Refusal) ?? Refusal(error ?? URLError(.unknown), for: accepted.request.url))
        }
        let isWhole =
            switch framing {
            case .length(let length): state.value.written == length
            case .none, .chunked, .close: true
            }
        // A client that knows the length, or waits for the last chunk, notices that the connection ends too early.
        guard error == nil, isWhole else {
            state.value.writer.flush()
            return channel.close(promise: nil)
        }
        state.value.endResponse(state.value.saysClose)
    }

    // MARK: - Writing

    /// Whether the connection ends with a response that begins now.
    private var closes: Bool { !head.staysOpen || state.value.isUploading }

    private func write(_ response: ResponseHead) {
        guard !state.value.isOver, state.value.framing == nil else { return }
        guard response.statusCode >= 200 else {
            state.value.isOver = true
            state.value.journey.take()?.cancel()
            return refuse(.interim(response.statusCode))
        }
        let (head, framing, rewriter) = serving.head(response, to: accepted, self.head)
        state.value.rewriter = rewriter
        state.value.framing = framing
        state.value.saysClose = framing == .close || closes
        state.value.writer.begin(head.saying(closes: state.value.saysClose), framing)
    }

    private func write(_ part: Data) {
        guard let rewritten = state.value.rewriter?.append(part) else { return writeBody(part) }
        writeBody(rewritten)
    }

    private func writeBody(_ part: some Collection<UInt8>) {
        guard !part.isEmpty, !state.value.isOver, let framing = state.value.framing, framing != .none else { return }
        state.value.written += part.count
        if case .length(let length) = framing, state.value.written > length {
            // The client would take the rest for the next response.
            state.value.isOver = true
            state.value.journey.take()?.cancel()
            return channel.close(promise: nil)
        }
        state.value.writer.append(part)
    }

    /// The answer to a link that another app opens: the browser stays where it is.
    private func writeNothing() {
        let answer = HTTPResponseHead(version: head.version, status: .noContent).saying(closes: closes)
        state.value.writer.begin(answer)
        state.value.endResponse(closes)
    }

    private func refuse(_ refusal: Refusal) {
        let closes = refusal.closes || closes
        state.value.writer.write(refusal, to: head, closes: closes)
        state.value.endResponse(closes)
    }
}

extension Optional where Wrapped == any Error {
    /// Whether the load ended because another app opens its link.
    fileprivate var isOpenedElsewhere: Bool {
        let cause = (self as? URLError)?.userInfo[NSUnderlyingErrorKey] as? WaystationError
        return cause?.code == .openedElsewhere
    }
}
#endif
