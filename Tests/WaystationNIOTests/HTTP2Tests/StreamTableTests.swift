#if NIO
import NIOCore
import NIOHPACK
import Testing

@testable import WaystationNIO

@Suite("Streams as a state machine")
struct StreamTableTests {
    private var table = StreamTable<String>(limits: HTTP2Limits())

    private func head(_ framing: EngineRequestHead.Framing = .none) -> EngineRequestHead {
        EngineRequestHead(
            method: "POST",
            scheme: "https",
            authority: "o.test",
            target: "/",
            fields: [],
            framing: framing
        )
    }

    private let ok: HPACKHeaders = [":status": "200"]

    @Test("Streams have odd, ascending numbers and open in order")
    mutating func numbers() {
        #expect(table.add("a", head()) == 1)
        #expect(table.add("b", head(.length(3))) == 3)
        let first = table.start()
        #expect(first?.id == 1 && first?.exchange == "a" && first?.isComplete == true)
        let second = table.start()
        #expect(second?.id == 3 && second?.isComplete == false)
        #expect(table.start() == nil)
    }

    @Test("A stream that was not opened is cancelled without telling the server")
    mutating func cancelWaiting() {
        _ = table.add("a", head())
        #expect(table.cancel(1) == false)
        #expect(table.start() == nil)
        _ = table.add("b", head())
        _ = table.start()
        #expect(table.cancel(3) == true)
        #expect(table.cancel(3) == false)
        #expect(table.capacity == 100)
    }

    @Test("Settings without a number of streams mean no limit but the own one")
    mutating func streamLimits() {
        #expect(table.capacity == 100)
        table.settings(maxConcurrentStreams: 1, initialWindow: nil)
        #expect(table.capacity == 1)
        table.settings(maxConcurrentStreams: nil, initialWindow: nil)
        #expect(table.capacity == 1)
        table.settings(maxConcurrentStreams: -5, initialWindow: nil)
        #expect(table.capacity == 0)
        table.settings(maxConcurrentStreams: .max, initialWindow: nil)
        #expect(table.capacity == 100)
    }

    @Test("A head, parts and an end are news for their exchange only")
    mutating func response() {
        open("a")
        open("b")
        let news = table.receive(ok, isLast: false, on: 1)
        #expect(news?.exchange == "a" && news?.head?.status == 200 && news?.end == nil)
        let part = table.receive(5, isLast: true, on: 1)
        #expect(part?.deliversPart == true && part?.end == .init())
        #expect(table.receive(5, isLast: true, on: 1) == nil)
        #expect(table.receive(ok, isLast: true, on: 99) == nil)
        #expect(table.streams.count == 1)
    }

    @Test("DATA before a head, and trailers that do not end the stream, are reset")
    mutating func disorder() {
        open("a")
        #expect(table.receive(1, isLast: false, on: 1)?.end?.reset == .protocolError)
        open("b")
        _ = table.receive(ok, isLast: false, on: 3)
        #expect(table.receive(["x": "y"], isLast: false, on: 3)?.end?.reset == .protocolError)
    }

    @Test("Empty DATA is ignored")
    mutating func emptyData() {
        open("a")
        _ = table.receive(ok, isLast: false, on: 1)
        #expect(table.receive(0, isLast: false, on: 1) == nil)
    }

    @Test("GOAWAY returns the streams above its last, and those that were not opened")
    mutating func goAway() {
        table.settings(maxConcurrentStreams: 2, initialWindow: nil)
        open("a")
        open("b")
        _ = table.add("c", head())
        #expect(table.goAway(last: 1).map(\.exchange) == ["b", "c"])
        #expect(table.add("d", head()) == nil && !table.isDrained)
        _ = table.receive(ok, isLast: true, on: 1)
        #expect(table.isDrained)
    }

    @Test("A lost connection returns all exchanges, and whether they were sent")
    mutating func fail() {
        table.settings(maxConcurrentStreams: 1, initialWindow: nil)
        open("a")
        _ = table.add("b", head())
        let ended = table.fail()
        #expect(ended.map(\.exchange) == ["a", "b"] && ended.map(\.wasSent) == [true, false])
        #expect(table.streams.isEmpty && table.capacity == 0)
    }

    @Test("Windows grow and shrink without overflow")
    mutating func windows() {
        open("a", .unknownLength)
        table.settings(maxConcurrentStreams: nil, initialWindow: 0)
        table.sendWindow(growsBy: .max, on: 0)
        table.sendWindow(growsBy: .max, on: 0)
        table.sendWindow(growsBy: 1, on: 77)
        table.give(ByteBuffer(string: "abc"), isLast: true, to: 1)
        #expect(table.nextSendStep(maximum: 10) == nil)
    }

    @Test("A held stream is granted nothing until it is released")
    mutating func held() {
        table.settingsAcknowledged()
        open("a")
        #expect(table.receiveWindow(is: 600_000, on: 1) == nil)
        table.hold(1)
        #expect(table.receiveWindow(is: 0, on: 1) == nil)
        #expect(table.release(1) == 1 << 20)
        #expect(table.release(1) == nil)
    }

    @Test("When the numbers are used up, the connection takes no more")
    mutating func exhaustion() {
        var table = StreamTable<String>(limits: HTTP2Limits(), firstID: StreamTable<String>.lastID - 2)
        #expect(table.add("a", head()) == StreamTable<String>.lastID - 2)
        #expect(table.add("b", head()) == StreamTable<String>.lastID)
        #expect(table.add("c", head()) == nil && table.capacity == 0 && !table.isDrained)
        _ = table.cancel(StreamTable<String>.lastID)
        _ = table.cancel(StreamTable<String>.lastID - 2)
        #expect(table.isDrained)
    }

    private mutating func open(_ exchange: String, _ framing: EngineRequestHead.Framing = .none) {
        _ = table.add(exchange, head(framing))
        _ = table.start()
    }
}
#endif
