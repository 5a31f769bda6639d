import Foundation
import Testing

@testable import Waystation

@Suite("The outbox of invalidations")
struct OutboxTests {
    private var outbox = Outbox()

    @Test("keeps their order, has one that delivers, and is empty after the last")
    mutating func order() {
        #expect(outbox.add(.url("a")) == true)
        #expect(outbox.add(.url("b")) == false)
        #expect(outbox.next() == .url("a"))
        outbox.delivered()
        #expect(!outbox.isEmpty)
        #expect(outbox.next() == .url("b"))
        outbox.delivered()
        #expect(outbox.next() == nil)
        #expect(outbox.isEmpty)
        #expect(outbox.add(.url("c")) == true, "the next one has to be delivered anew")
    }

    @Test("has one invalidation once, unless that one may be under way")
    mutating func repetition() {
        _ = outbox.add(.url("a"))
        _ = outbox.add(.url("a"))
        _ = outbox.add(.url("a"))
        #expect(outbox.scopes == [.url("a"), .url("a")])
    }

    @Test("has one of everything in place of more than 1,024, and keeps the one that may be under way")
    mutating func limit() {
        for number in 0..<5_000 { _ = outbox.add(.url("\(number)")) }
        #expect(outbox.scopes.count <= Outbox.limit)
        #expect(outbox.scopes.prefix(2) == [.url("0"), .all])
    }

    @Test("has scopes that equal themselves after coding")
    func coding() {
        for scope in [SharedScope.all, .url("https://a.example/ü"), .prefix(""), .host("a.example")] {
            #expect(SharedScope(encoded: scope.encoded) == scope)
        }
        #expect(SharedScope(encoded: Data()) == nil)
        #expect(SharedScope(encoded: Data([9])) == nil)
    }
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
