#if NIO
import NIOCore
import WaystationHTTP
import WaystationFoundation
import Waystation

/// One exchange: it collects what its connection reports, and delivers it once a turn of the event loop.
///
/// It is confined to the event loop of its transport.
final class Exchange: ConnectionExchange {
    let id: ExchangeID
    let url: URL
    let origin: Origin
    let requestHead: EngineRequestHead
    let loop: any EventLoop
    /// The connection that carries the exchange.
    var connection: (any ExchangeConnection)?
    /// Whether a delivery is due at the end of this turn of the loop.
    var isDirty = false

    let owner: any ExchangeOwner
    private let makeDecoder: MakeContentDecoder?
    private let timeout: TimeAmount
    private(set) var state: ExchangeState
    var receiver: (any TransportReceiver)?
    private var source: BodySource
    /// The number of times that the body was begun: a piece of an earlier time may arrive late.
    private var sending = 0
    var progress: UploadProgress
    var head: EngineResponseHead?
    var arrived: ArrivedBody
    var failure: TransportFailure?
    /// Whether the connection waits for `resume`.
    private var holdsConnection = false
    private var lastEvent: NIODeadline

    init(
        _ order: ExchangeOrder,
        owner: any ExchangeOwner,
        loop: any EventLoop,
        limits: NIOOptions.Limits,
        makeDecoder: MakeContentDecoder?,
        now: NIODeadline
    ) {
        id = order.id
        url = order.request.url
        origin = order.request.origin
        requestHead = order.request.head
        timeout = order.request.timeout
        receiver = order.receiver
        state = ExchangeState(method: order.request.head.method)
        source = BodySource(order.request.body)
        progress = UploadProgress(order.request.head.framing)
        arrived = ArrivedBody(limits: limits)
        lastEvent = now
        self.owner = owner
        self.loop = loop
        self.makeDecoder = makeDecoder
    }

    // MARK: Calls of the connection

    func take(_ head: EngineResponseHead) {
        switch state.receiveHead(status: head.status) {
        case .ignore: return
        case .fail(let failure): return fail(failure)
        case .deliver: break
        }
        lastEvent = .now()
        if head.hasLostBytes, repeatOverHTTP1() { return }
        if let failure = prepareDecoding(head) { return fail(failure) }
        self.head = head
        owner.exchangeHasNews(self)
    }

    /// Asks for a response once more over HTTP/1.1, whose codec loses none of its bytes, if it can be asked for twice.
    private func repeatOverHTTP1() -> Bool {
        guard state.mayBeRepeated(isRepeatable: source.isRepeatable), owner.exchangeRequiresHTTP1(self) else {
            return false
        }
        owner.exchange(self, mustLeave: state.restart())
        sendAgain(lostOn: nil, after: .zero)
        return true
    }

    private func sendAgain(lostOn carrier: ConnectionID?, after pause: TimeAmount) {
        source.rewind()
        sending += 1
        progress = UploadProgress(requestHead.framing)
        owner.exchangeMustRetry(self, lostOn: carrier, after: pause)
    }

    func take(_ part: ByteBuffer) -> Bool {
        guard state.connection != nil else { return true }
        lastEvent = .now()
        arrived.append(part)
        owner.exchangeHasNews(self)
        // A connection that waits goes on waiting until `resume`, although there may be room by now.
        if !arrived.hasRoom { holdsConnection = true }
        return !holdsConnection
    }

    func end(_ failure: ExchangeFailure?) {
        let carrier = state.connection
        var failure = failure
        if carrier != nil, failure?.requiresHTTP1 == true {
            failure?.unprocessed = owner.exchangeRequiresHTTP1(self) ? .connectionEnded : nil
        }
        let end = state.end(failure, isRepeatable: source.isRepeatable)
        connection = nil
        holdsConnection = false
        if let carrier { owner.exchange(self, didEndOn: carrier) }
        switch end {
        case .ignore: return
        case .complete: arrived.complete()
        case .fail(let failure): self.failure = failure
        case .retry(let pause):
            return sendAgain(lostOn: failure?.isUnprocessed == true ? nil : carrier, after: pause)
        }
        owner.exchangeHasNews(self)
    }

    func needsBody() {
        guard state.connection != nil else { return }
        switch source.next() {
        case .piece(let piece, let isLast): send(piece, isLast: isLast)
        case .read(let stream):
            let bound = NIOLoopBound(self, eventLoop: loop)
            let (loop, sending) = (loop, sending)
            stream.read { piece in
                loop.execute { bound.value.didRead(piece, of: sending) }
            }
        }
    }

    private func didRead(_ piece: BodyStream.Piece, of sending: Int) {
        guard sending == self.sending else { return }
        switch piece {
        case .bytes(let bytes): send(bytes, isLast: false)
        case .end: send(ByteBuffer(), isLast: true)
        case .failure(let reason):
            fail(
                TransportFailure(
                    .requestBodyStreamExhausted,
                    "The stream of the request's body cannot be read: \(reason). Give the request a stream that can be read."
                )
            )
        }
    }

    private func send(_ piece: ByteBuffer, isLast: Bool) {
        guard state.connection != nil, let connection else { return }
        do {
            try progress.send(piece.readableBytes)
            if isLast { try progress.end() }
        } catch let failure as TransportFailure {
            return fail(failure)
        } catch {
            return fail(TransportFailure(.unknown, "The request's body cannot be sent: \(error)."))
        }
        lastEvent = .now()
        if piece.readableBytes > 0 { owner.exchangeHasNews(self) }
        connection.send(piece, isLast: isLast, of: self)
    }

    private func prepareDecoding(_ head: EngineResponseHead) -> TransportFailure? {
        let hasNoBody = requestHead.method == "HEAD" || head.status == 204 || head.status == 304
        guard !hasNoBody, let makeDecoder else { return nil }
        let codings = head.contentCodings
        guard !codings.names.isEmpty else { return nil }
        arrived.decoder = makeDecoder(
            codings.names,
            DecodingLimits(
                ratio: arrived.limits.decodedRatio,
                bytesBeforeRatio: arrived.limits.decodedBytesBeforeRatio
            )
        )
        // All others expect that codings which every client knows were removed.
        guard arrived.decoder == nil, codings.areRemoved else { return nil }
        return TransportFailure(
            .unknown,
            """
            The response has the content coding "\(codings.names.joined(separator: ", ").shown())", which cannot be \
            removed here. Ask for another coding with the request's Accept-Encoding.
            """
        )
    }

    // MARK: Calls of the engine

    /// Records that a connection will carry the exchange; returns false if that is too late.
    func begin(on connection: ConnectionID, isReused: Bool) -> Bool {
        state.begin(on: connection, isReused: isReused)
    }

    /// Ends the exchange with an error.
    func fail(_ failure: TransportFailure) {
        guard !state.isOver else { return }
        self.failure = failure
        owner.exchange(self, mustLeave: state.fail())
        owner.exchangeHasNews(self)
    }

    func cancel() {
        let leave = state.cancel()
        receiver = nil
        arrived.removeAll()
        owner.exchange(self, mustLeave: leave)
        owner.exchangeIsOver(self)
    }

    func pause() { state.pause() }

    func resume() {
        guard state.isPaused else { return }
        state.resume()
        lastEvent = .now()
        owner.exchangeHasDeadline(self)
        owner.exchangeHasNews(self)
    }

    /// The time at which the exchange fails if nothing happens before; nil if it may take as long as it likes.
    var deadline: NIODeadline? { state.isPaused || state.isOver ? nil : lastEvent + timeout }

    /// Fails the exchange if its deadline has passed.
    func checkDeadline(_ now: NIODeadline) {
        guard let deadline, deadline <= now else { return }
        fail(.timedOut(seconds: Double(timeout.nanoseconds) / 1e9))
    }
}

extension Exchange {
    /// Delivers what has arrived.
    ///
    /// It is called at the end of a turn of the loop.
    func deliver() {
        guard let receiver else { return }
        if let report = progress.takeReport() {
            receiver.transportDidSend(report.count, total: report.total, expected: report.expected)
        }
        guard !state.isPaused else { return }
        if let head {
            self.head = nil
            receiver.transportDidReceive(ResponseHead(head, url: url))
        }
        guard deliverBody(to: receiver) else { return }
        deliverEnd(to: receiver)
        continueReading()
    }

    /// - Returns: False if parts are left for the next turn.
    private func deliverBody(to receiver: any TransportReceiver) -> Bool {
        var rest = ArrivedBody.turn
        do {
            while let data = try arrived.next() {
                if !data.isEmpty { receiver.transportDidReceive(data) }
                rest -= data.count
                guard rest <= 0 || data.isEmpty else { continue }
                lastEvent = .now()
                owner.exchangeHasNews(self)
                return false
            }
        } catch let failure as TransportFailure {
            arrived.removeAll()
            failDecoding(failure)
        } catch {
            arrived.removeAll()
            failDecoding(TransportFailure(.unknown, "The body cannot be read: \(error)."))
        }
        return true
    }

    /// A body can turn out to be damaged when its connection has already finished it.
    private func failDecoding(_ failure: TransportFailure) {
        if state.isOver { self.failure = failure } else { fail(failure) }
    }

    private func deliverEnd(to receiver: any TransportReceiver) {
        guard state.isOver, failure != nil || arrived.isComplete else { return }
        self.receiver = nil
        receiver.transportDidEnd(failure?.error(for: url))
        owner.exchangeIsOver(self)
    }

    private func continueReading() {
        guard holdsConnection, arrived.hasRoom, let connection else { return }
        holdsConnection = false
        connection.resume(self)
    }
}

/// The bytes of a request's body that were handed to its connection, and the rule that their number must match the
/// length that was announced.
struct UploadProgress: Equatable {
    /// The announced length; nil for a stream without one.
    let expected: Int64?
    private(set) var total: Int64 = 0
    /// The number of sent bytes that no call has reported to the receiver yet.
    private(set) var unreported: Int64 = 0

    init(_ framing: EngineRequestHead.Framing) {
        switch framing {
        case .none: expected = 0
        case .length(let length): expected = length
        case .unknownLength: expected = nil
        }
    }

    /// Records that bytes are sent next.
    ///
    /// - Throws: A `TransportFailure` if these are more than were announced.
    mutating func send(_ count: Int) throws {
        let (sum, overflows) = total.addingReportingOverflow(Int64(count))
        guard !overflows, sum <= expected ?? .max else {
            throw Self.mismatch("more than the \(expected ?? 0) bytes that its Content-Length announces")
        }
        total = sum
        unreported += Int64(count)
    }

    /// Records that the body ended.
    ///
    /// - Throws: A `TransportFailure` if it is shorter than announced.
    func end() throws {
        guard let expected, total < expected else { return }
        throw Self.mismatch("only \(total) of the \(expected) bytes that its Content-Length announces")
    }

    /// The count, total and expectation to report, or nil if nothing was sent since the last call.
    mutating func takeReport() -> (count: Int64, total: Int64, expected: Int64)? {
        guard unreported > 0 else { return nil }
        defer { unreported = 0 }
        return (unreported, total, expected ?? -1)
    }

    private static func mismatch(_ what: String) -> TransportFailure {
        TransportFailure(
            .requestBodyStreamExhausted,
            "The stream of the request's body has \(what). Correct the field, or leave it out."
        )
    }
}

/// Identifies an exchange of a transport.
struct ExchangeID: Hashable, Sendable {
    var number: UInt64
}

/// An exchange that an app has started, on its way to the event loop.
struct ExchangeOrder: Sendable {
    var id: ExchangeID
    var request: ComposedRequest
    var receiver: any TransportReceiver
}

/// The engine, as its exchanges see it.
///
/// All its methods are called on the event loop.
protocol ExchangeOwner: AnyObject {
    /// Something is to be delivered at the end of this turn of the loop.
    func exchangeHasNews(_ exchange: Exchange)
    /// The exchange is taken away from its queue or its connection.
    func exchange(_ exchange: Exchange, mustLeave leave: ExchangeState.Leave)
    /// The connection has no more to do with the exchange.
    func exchange(_ exchange: Exchange, didEndOn connection: ConnectionID)
    /// The server has refused the request because it takes it over HTTP/1.1 only.
    ///
    /// - Parameter exchange: The exchange.
    /// - Returns: Whether new connections to the server speak HTTP/1.1, so that the request can be sent again.
    func exchangeRequiresHTTP1(_ exchange: Exchange) -> Bool
    /// The request must be sent again.
    ///
    /// - Parameters:
    ///   - exchange: The exchange.
    ///   - connection: The connection that was lost with the request, or of which only the request's stream was lost;
    ///     nil if the server did not process the request.
    ///   - pause: The time to wait before.
    func exchangeMustRetry(_ exchange: Exchange, lostOn connection: ConnectionID?, after pause: TimeAmount)
    /// The end was delivered, or nothing more is to be delivered.
    func exchangeIsOver(_ exchange: Exchange)
    /// A deadline is running that may be earlier than those before.
    func exchangeHasDeadline(_ exchange: Exchange)
}
#endif
