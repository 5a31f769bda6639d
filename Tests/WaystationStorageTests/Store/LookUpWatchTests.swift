import Testing

@testable import WaystationStorage

@Suite("The watch over look-ups")
struct LookUpWatchTests {
    private var watch = LookUpWatch<String>()

    // An expectation cannot call a mutating method directly.
    private mutating func come(
        _ name: String,
        to line: LookUpWatch<String>.Line = .reads
    ) -> LookUpWatch<String>.Position? {
        watch.add(name, to: line)
    }

    private mutating func add(_ name: String, to line: LookUpWatch<String>.Line = .reads) throws -> Int {
        let ticket = come(name, to: line)
        return try #require(ticket).number
    }

    private mutating func moveOn(_ number: Int) -> LookUpWatch<String>.Turn { watch.moveOn(number) }

    private mutating func begin(_ number: Int) -> LookUpWatch<String>.Turn { watch.begin(number) }

    private mutating func end(_ number: Int, _ outcome: LookUpWatch<String>.Outcome) -> LookUpWatch<String>.Turn {
        watch.end(number, outcome)
    }

    private mutating func tick() -> LookUpWatch<String>.Tick { watch.tick() }

    private mutating func givenUp() -> [String] { watch.tick().givenUp }

    @Test("removes an answered look-up once, and does not abandon it")
    mutating func answer() throws {
        let a = try add("a")
        #expect(begin(a).isAwaited)
        #expect(end(a, .onDisk).completion == "a")
        #expect(end(a, .onDisk).completion == nil)
        #expect(givenUp().isEmpty)
        #expect(givenUp().isEmpty)
        #expect(!watch.isHanging)
    }

    @Test("abandons a look-up at the second tick after it came, in the order of arrival")
    mutating func patience() throws {
        for name in ["a", "b", "c"] { _ = try add(name) }
        #expect(givenUp().isEmpty)
        _ = try add("d")
        #expect(givenUp() == ["a", "b", "c"])
        #expect(givenUp() == ["d"])
    }

    @Test("starts its ticks once, while look-ups wait")
    mutating func ticks() {
        #expect(come("a")?.startsTicks == true)
        #expect(come("b")?.startsTicks == false)
        _ = end(1, .onDisk)
        #expect(tick().goesOn)
        #expect(!tick().goesOn, "the last look-up was abandoned")
        _ = begin(2)
        #expect(come("c")?.startsTicks == true)
        _ = end(3, .onDisk)
        #expect(come("d")?.startsTicks == false, "the ticks for the third look-up continue")
    }

    @Test("skips the reading of an abandoned look-up, and drops a late answer")
    mutating func lateAnswer() throws {
        let (a, b) = (try add("a"), try add("b"))
        #expect(begin(a).isAwaited)
        _ = tick()
        #expect(givenUp() == ["a", "b"])
        let end = end(a, .onDisk)
        #expect(end.completion == nil)
        #expect(end.hasRecovered)
        let turn = begin(b)
        #expect(!turn.isAwaited)
        #expect(!turn.hasRecovered, "the recovery was reported before")
    }

    @Test("answers all look-ups with a miss while reading hangs, until a turn begins")
    mutating func hangingReads() throws {
        let a = try add("a")
        _ = tick()
        #expect(!watch.isHanging)
        let tick = tick()
        #expect(tick.startsHanging)
        #expect(watch.isHanging)
        #expect(come("b") == nil)
        #expect(come("b", to: .writes) == nil)
        #expect(begin(a).hasRecovered)
        #expect(!watch.isHanging)
        #expect(come("b") != nil)
    }

    @Test("answers only the look-ups that wait for a write with a miss while writing hangs")
    mutating func hangingWrites() throws {
        let a = try add("a", to: .writes)
        _ = tick()
        #expect(tick().startsHanging)
        #expect(come("b", to: .writes) == nil)
        let b = try add("b")
        #expect(!begin(b).hasRecovered)
        #expect(end(b, .onDisk).completion == "b")
        #expect(watch.isHanging)
        let turn = moveOn(a)
        #expect(turn.hasRecovered)
        #expect(!turn.isAwaited)
        #expect(come("c", to: .writes) != nil)
    }

    @Test("reports a hang once, however many look-ups are abandoned, until nothing hangs any more")
    mutating func onceForEachHang() throws {
        let (a, b) = (try add("a", to: .writes), try add("b"))
        _ = tick()
        _ = try add("c")
        #expect(tick().startsHanging)
        let second = tick()
        #expect(second.givenUp == ["c"])
        #expect(!second.startsHanging)
        #expect(!begin(b).hasRecovered)
        #expect(moveOn(a).hasRecovered)
        _ = try add("d")
        _ = tick()
        #expect(tick().startsHanging)
    }

    @Test("counts the time behind writes, and moves a look-up on to its reading when they are done")
    mutating func movingOn() throws {
        let a = try add("a", to: .writes)
        _ = tick()
        #expect(moveOn(a).isAwaited)
        #expect(givenUp() == ["a"])
        #expect(come("b") == nil, "the reading hangs")
    }

    @Test("does not let a look-up wait behind a hanging read after its writes are done")
    mutating func movingOnIntoAHang() throws {
        _ = try add("a")
        _ = tick()
        let b = try add("b", to: .writes)
        #expect(givenUp() == ["a"])
        let turn = moveOn(b)
        #expect(!turn.isAwaited)
        #expect(turn.completion == "b")
        #expect(watch.misses == 2)
        #expect(givenUp().isEmpty)
    }

    @Test("counts each look-up once, by the result that its completion received")
    mutating func counts() throws {
        let (memory, disk, nothing) = (try add("a"), try add("b"), try add("c"))
        _ = end(memory, .inMemory)
        _ = end(disk, .onDisk)
        _ = end(nothing, .nothing)
        #expect((watch.diskHits, watch.misses) == (1, 1))
        let late = try add("d")
        _ = tick()
        _ = tick()
        #expect(come("e") == nil)
        _ = end(late, .onDisk)
        #expect((watch.diskHits, watch.misses) == (1, 3))
    }
}
