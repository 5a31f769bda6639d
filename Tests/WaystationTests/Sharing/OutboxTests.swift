import Foundation
import Testing
import WaystationHTTP
import WaystationStorage

@testable import Waystation

// Swift Testing has a type of that name too.
private typealias Expectation = Waystation.Expectation

@Suite("The outbox of invalidations")
struct OutboxTests {
    private var outbox = Outbox()

    @Test("keeps their order, has one that delivers, and is empty after the last")
    mutating func order() {
        #expect(outbox.add(.url("a")).begins)
        #expect(!outbox.add(.url("b")).begins)
        #expect(outbox.next() == .url("a"))
        _ = outbox.delivered()
        #expect(!outbox.isEmpty)
        #expect(outbox.next() == .url("b"))
        _ = outbox.delivered()
        #expect(outbox.next() == nil)
        #expect(outbox.isEmpty)
        #expect(outbox.add(.url("c")).begins, "the next one has to be delivered anew")
    }

    @Test("has one invalidation once, unless that one may be under way")
    mutating func repetition() {
        for _ in 0..<3 { _ = outbox.add(.url("a")) }
        #expect(outbox.scopes == [.url("a"), .url("a")])
    }

    @Test("has one of everything in place of more than 1,024, and keeps the one that may be under way")
    mutating func limit() {
        for number in 0..<5_000 { _ = outbox.add(.url("\(number)")) }
        #expect(outbox.scopes.count <= Outbox.limit)
        #expect(outbox.scopes.prefix(2) == [.url("0"), .all])
    }

    @Test("returns the attempts that await an invalidation with its delivery")
    mutating func awaitedDelivery() {
        let (first, second, third) = (Expectation(), Expectation(), Expectation())
        _ = outbox.add(.url("a"))
        _ = outbox.next()
        _ = outbox.add(.url("b"), awaiting: first)
        _ = outbox.add(.url("c"), awaiting: second)
        _ = outbox.add(.url("b"), awaiting: third)
        let delivered = (0..<3).map { _ in outbox.delivered() }
        #expect(delivered.map(\.count) == [0, 2, 1])
        #expect(delivered[1].first === first)
        #expect(delivered[1].last === third)
        #expect(delivered[2].first === second)
    }

    @Test("returns all attempts once when one fails, also those of replaced invalidations")
    mutating func awaitedFailure() {
        _ = outbox.add(.url("a"), awaiting: Expectation())
        _ = outbox.next()
        for number in 0..<2_000 { _ = outbox.add(.url("\(number)"), awaiting: Expectation()) }
        #expect(outbox.failed(before: Expectation()).count == 2_001)
        #expect(outbox.failed(before: Expectation()).isEmpty)
    }

    @Test("ends the pause after a failed attempt, but only for an invalidation that is awaited")
    mutating func pause() {
        let pause = Expectation()
        _ = outbox.add(.url("a"))
        _ = outbox.next()
        _ = outbox.failed(before: pause)
        #expect(outbox.add(.url("b")).pause == nil)
        #expect(outbox.add(.url("c"), awaiting: Expectation()).pause === pause)
        #expect(outbox.add(.url("d"), awaiting: Expectation()).pause == nil, "it has ended")
        _ = outbox.failed(before: pause)
        _ = outbox.next()
        #expect(outbox.add(.url("e"), awaiting: Expectation()).pause == nil, "an attempt is under way")
    }

    @Test("has scopes that equal themselves after coding")
    func coding() {
        for scope in [SharedScope.all, .url("https://a.example/ü"), .prefix(""), .host("a.example")] {
            #expect(SharedScope(encoded: scope.encoded) == scope)
        }
        for kind in [PurgeKind.hard, .soft] {
            let labels = [ResponseLabel.tag("shop a"), .group("prices", origin: "https://a.example")]
            let scope = SharedScope.labels(labels, kind)
            #expect(SharedScope(encoded: scope.encoded) == scope)
            // No response has such a label, and a line of it must not become another one.
            let odd = SharedScope.labels(labels + [.tag("x\n shop"), .tag("ü")], kind)
            #expect(SharedScope(encoded: odd.encoded) == scope)
        }
        #expect(SharedScope(encoded: Data()) == nil)
        #expect(SharedScope(encoded: Data([9])) == nil)
    }
}

extension Outbox.Step {
    fileprivate var begins: Bool { if case .deliver = self { true } else { false } }
    fileprivate var pause: Expectation? { if case .endPause(let pause) = self { pause } else { nil } }
}

@Suite("The numbers of messages")
struct MessageSequenceTests {
    @Test("show that nothing was missed, or that something may have been", arguments: [nil, 7, 8] as [UInt64?])
    func beginning(last: UInt64?) {
        var sequence = MessageSequence(last: last)
        #expect(sequence.begin(after: 8) == (last == 8 ? .complete : .missed))
        #expect(sequence.begin(after: 8) == .complete)
        #expect(sequence.begin(after: 10) == .missed)
    }

    @Test("show that the tier was set back, but not beside those of another run")
    func setBack() {
        var sequence = MessageSequence(last: 9)
        #expect(sequence.begin(after: 8) == .missed)
        #expect(sequence.receive(9) == .apply)
        #expect(sequence.begin(after: 8) == .setBack)
        #expect(sequence.begin(after: 8) == .complete)
    }

    @Test("apply once and in order, and show a gap")
    func receiving() {
        var sequence = MessageSequence(last: 8)
        let steps = [7, 8, 9, 9, 10, 12, 13].map { sequence.receive($0) }
        #expect(steps == [.ignore, .ignore, .apply, .ignore, .apply, .missed, .apply])
        var unknown = MessageSequence(last: nil)
        #expect(unknown.receive(3) == .missed)
    }
}
