import Foundation
import Logging
import Testing

@testable import Waystation

@Suite("An event broadcaster")
struct EventBroadcasterTests {
    private func broadcaster() -> EventBroadcaster { EventBroadcaster(logger: Logger(label: "test")) }

    private func event(_ number: Int) -> LoadEvent { LoadEvent(kind: .stored(bytes: number)) }

    private func number(_ event: LoadEvent) -> Int? {
        guard case .stored(let bytes) = event.kind else { return nil }
        return bytes
    }

    /// The remaining events of a stream whose broadcaster has been released.
    private func rest(of stream: AsyncStream<LoadEvent>) async -> [Int?] {
        var numbers: [Int?] = []
        for await event in stream { numbers.append(number(event)) }
        return numbers
    }

    @Test("sends each stream all events since the stream was made, and ends it with itself")
    func streams() async {
        var events: EventBroadcaster? = broadcaster()
        events?.emit(event(0))
        guard let first = events?.makeStream() else { return }
        events?.emit(event(1))
        guard let second = events?.makeStream() else { return }
        events?.emit(event(2))
        events = nil
        #expect(await rest(of: first) == [1, 2])
        #expect(await rest(of: second) == [2])
    }

    @Test("does not end other streams when one reader is cancelled")
    func termination() async {
        var events: EventBroadcaster? = broadcaster()
        guard let staying = events?.makeStream(), let leaving = events?.makeStream() else { return }
        let reader = Task { for await _ in leaving {} }
        reader.cancel()
        await reader.value
        events?.emit(event(1))
        events = nil
        #expect(await rest(of: staying) == [1])
    }

    @Test("drops the oldest events for a slow reader, without a delay for the others")
    func slowReader() async {
        var events: EventBroadcaster? = broadcaster()
        guard let slow = events?.makeStream() else { return }
        for number in 0..<(EventBroadcaster.streamCapacity + 10) { events?.emit(event(number)) }
        events = nil
        #expect(await rest(of: slow) == Array(10..<(EventBroadcaster.streamCapacity + 10)))
    }
}
