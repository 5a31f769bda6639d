#if DEBUG || TESTABLE
import NIOCore
@testable import WaystationNIO

/// An exchange that checks the calls of its connection: one head before the body, one end after all, nothing later.
final class CheckedExchange: ConnectionExchange {
    let requestHead: EngineRequestHead
    /// The exchange accepts so many parts before it asks the connection to wait.
    var partsUntilFull = Int.max
    /// The exchange was cancelled, so that no call may follow.
    var isCancelled = false
    private(set) var bodyLength = 0
    private(set) var endCount = 0
    private(set) var wrong: String?
    private var hasHead = false

    init(_ method: String = "GET", _ framing: EngineRequestHead.Framing = .none) {
        requestHead = EngineRequestHead(
            method: method,
            scheme: "http",
            authority: "origin.test",
            target: "/",
            fields: [],
            framing: framing
        )
    }

    private func check(_ holds: Bool, _ complaint: String) {
        guard wrong == nil, !holds || isCancelled || endCount > 0 else { return }
        wrong = holds ? "\(complaint), but not after the end" : complaint
    }

    func take(_ head: EngineResponseHead) {
        check(!hasHead, "a head comes once")
        check(!(100..<200).contains(head.status), "a head is that of the final response")
        hasHead = true
    }

    func take(_ part: ByteBuffer) -> Bool {
        check(hasHead, "a part comes after the head")
        check(part.readableBytes > 0, "a part has bytes")
        bodyLength += part.readableBytes
        partsUntilFull -= 1
        return partsUntilFull > 0
    }

    func needsBody() { check(requestHead.framing != .none, "only a request with a body is asked for it") }

    func end(_ failure: ExchangeFailure?) {
        check(hasHead || failure != nil, "a response is complete with its head")
        endCount += 1
    }

    /// - Throws: A ``Finding`` if a call was wrong, or if the exchange has not ended exactly once.
    func finish() throws {
        if let wrong { throw Finding(wrong) }
        try Finding.unless(endCount == (isCancelled ? 0 : 1), "an exchange ended \(endCount) times")
    }
}

/// An owner that counts how often its connection closes.
final class CheckedOwner: ConnectionOwner {
    private(set) var closeCount = 0
    private(set) var capacity = 0

    func connection(_ connection: any ExchangeConnection, canTake count: Int) { capacity = count }

    func connectionDidFinish(_ connection: any ExchangeConnection) { capacity = 1 }

    func connectionTakesNoMore(_ connection: any ExchangeConnection) {}

    func connectionRequiresHTTP1(_ connection: any ExchangeConnection) -> Bool { true }

    func connectionDidClose(_ connection: any ExchangeConnection) { closeCount += 1 }
}
#endif
