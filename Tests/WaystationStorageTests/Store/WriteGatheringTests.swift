import Testing

@testable import WaystationStorage

@Suite("Gathering writes")
struct WriteGatheringTests {
    private var gathering = WriteGathering<Int>()

    private mutating func add(_ write: Int, bytes: Int = 1) -> [Int] { gathering.add(write, bytes: bytes).due }

    @Test("makes the first write due at once, the others at the end of the interval, and starts again after idleness")
    mutating func pace() {
        let first = gathering.add(1, bytes: 1)
        #expect(first.due == [1])
        #expect(first.startsInterval)
        let second = gathering.add(2, bytes: 1)
        #expect(second.due.isEmpty)
        #expect(!second.startsInterval)
        #expect(add(3).isEmpty)
        let end = gathering.endInterval()
        #expect(end.due == [2, 3])
        #expect(end.startsInterval)
        let idle = gathering.endInterval()
        #expect(idle.due.isEmpty)
        #expect(!idle.startsInterval)
        let anew = gathering.add(4, bytes: 1)
        #expect(anew.due == [4])
        #expect(anew.startsInterval)
    }

    @Test("makes many writes due before the end of the interval, which continues")
    mutating func count() {
        _ = add(0)
        for number in 1..<64 { #expect(add(number).isEmpty) }
        let last = gathering.add(64, bytes: 1)
        #expect(last.due == Array(1...64))
        #expect(!last.startsInterval)
        #expect(add(65).isEmpty)
    }

    @Test("makes large writes due before the end of the interval")
    mutating func bytes() {
        _ = add(0)
        #expect(add(1, bytes: (4 << 20) - 1).isEmpty)
        #expect(add(2, bytes: 1) == [1, 2])
        #expect(add(3, bytes: 1).isEmpty, "counting the bytes starts again")
    }

    @Test("does not make a write due again that was taken")
    mutating func take() {
        _ = add(0)
        _ = add(1, bytes: (4 << 20) - 1)
        #expect(gathering.take() == [1])
        #expect(add(2).isEmpty)
        #expect(gathering.endInterval().due == [2])
    }

    @Test("knows whether a job waits while another one begins")
    mutating func waiting() {
        gathering.jobWasQueued()
        let alone = gathering.jobBegins()
        gathering.jobWasQueued()
        gathering.jobWasQueued()
        let (first, last) = (gathering.jobBegins(), gathering.jobBegins())
        #expect(alone)
        #expect(!first)
        #expect(last)
    }
}
