import Synchronization
import Testing
import WaystationStorage

@Suite("Receivers of events")
struct ReceiverTests {
    @Test("Each listener gets every event, in the order in which the listeners were added")
    func listeners() {
        let listeners = Listeners<Int>()
        let heard = Mutex<[String]>([])
        listeners.report(0)
        listeners.add { event in heard.withLock { $0.append("a\(event)") } }
        listeners.add { event in
            heard.withLock { $0.append("b\(event)") }
            // Listeners are called outside the lock, so they can add others.
            if event == 1 { listeners.add { event in heard.withLock { $0.append("c\(event)") } } }
        }
        listeners.report(1)
        listeners.report(2)
        #expect(heard.withLock { $0 } == ["a1", "b1", "a2", "b2", "c2"])
    }

    @Test("A listener is removed after the release of its owner", arguments: [true, false])
    func ownedListeners(isReported: Bool) {
        final class Owner: Sendable {}
        let listeners = Listeners<Int>()
        let heard = Mutex(0)
        weak var kept: Owner?
        do {
            let (owner, other) = (Owner(), Owner())
            kept = other
            listeners.add(for: owner) { [other] event in
                withExtendedLifetime(other) { heard.withLock { $0 += event } }
            }
            listeners.report(1)
        }
        #expect(kept != nil)
        if isReported { listeners.report(10) } else { listeners.add { _ in } }
        #expect(kept == nil)
        #expect(heard.withLock { $0 } == 1)
    }

    @Test("Each reader gets the values from its addition to its removal")
    func readers() async {
        var readers = StreamReaders<Int>()
        let (first, firstEnd) = AsyncStream.makeStream(of: Int.self)
        let (second, secondEnd) = AsyncStream.makeStream(of: Int.self)
        let number = readers.add(firstEnd)
        readers.yield(1)
        _ = readers.add(secondEnd)
        readers.yield(2)
        let removed = [readers.remove(number), readers.remove(number)]
        #expect(removed == [true, false])
        firstEnd.finish()
        readers.yield(3)
        readers.finish()
        #expect(await first.reduce(into: []) { $0.append($1) } == [1, 2])
        #expect(await second.reduce(into: []) { $0.append($1) } == [2, 3])
    }
}
