import Foundation
import FoundationNetworking
import Testing

@testable import Waystation

@Suite("What may be told to a task, and when")
struct DeliveryTests {
    private let head: HTTPURLResponse

    init() throws {
        head = try .head(200)
    }

    private func name(_ item: Delivery.Item?) -> String {
        switch item {
        case .response: "response"
        case .data(let data): String(decoding: data, as: UTF8.self)
        case .reached: "reached"
        case .end(nil): "end"
        case .end: "error"
        case nil: "-"
        }
    }

    /// Everything that may be told now, in order.
    private func told(_ delivery: inout Delivery) -> [String] {
        var told: [String] = []
        while let item = delivery.next() { told.append(name(item)) }
        return told
    }

    private func data(_ text: String) -> Delivery.Item { .data(Data(text.utf8)) }

    // `#expect` cannot call a mutating method by itself.
    private func enqueue(_ item: Delivery.Item, in delivery: inout Delivery) -> Bool { delivery.enqueue(item) }

    private func cancel(_ delivery: inout Delivery) -> Bool { delivery.cancel() }

    /// A delivery that has begun and holds a whole response.
    private func begun() -> Delivery {
        var delivery = Delivery()
        _ = delivery.start()
        for item in [.response(head), data("a"), .reached({}), data("b"), .end(nil)] { _ = delivery.enqueue(item) }
        return delivery
    }

    @Test("items are told in order, and the end once")
    func order() {
        var delivery = begun()
        #expect(told(&delivery) == ["response"])
        delivery.allow()
        #expect(told(&delivery) == ["a", "reached", "b", "end"])
        #expect(delivery.hasEnded)
        #expect(told(&delivery) == [])
    }

    @Test("nothing follows a response before the delegate has agreed to it, not even an error")
    func disposition() {
        var delivery = Delivery()
        _ = delivery.start()
        _ = delivery.enqueue(.response(head))
        #expect(told(&delivery) == ["response"])
        #expect(enqueue(.end(URLError(.timedOut)), in: &delivery))
        #expect(told(&delivery) == [])
        #expect(!delivery.hasEnded)
        delivery.allow()
        #expect(told(&delivery) == ["error"])
    }

    @Test("nothing is told before the start")
    func beforeStart() {
        var delivery = Delivery()
        #expect(enqueue(.response(head), in: &delivery))
        #expect(told(&delivery) == [])
        #expect(delivery.start() == .begin)
        #expect(told(&delivery) == ["response"])
    }

    @Test("a suspended task is told nothing; what came meanwhile waits for its return")
    func suspended() {
        var delivery = begun()
        _ = delivery.next()
        delivery.allow()
        #expect(name(delivery.next()) == "a")
        delivery.suspend()
        #expect(told(&delivery) == [])
        #expect(delivery.start() == .resume)
        #expect(told(&delivery) == ["reached", "b", "end"])
    }

    @Test("a suspension while the delegate is asked lasts beyond its answer")
    func suspendedWhileAsked() {
        var delivery = begun()
        _ = delivery.next()
        delivery.suspend()
        delivery.allow()
        #expect(told(&delivery) == [])
        #expect(delivery.start() == .resume)
        #expect(told(&delivery) == ["a", "reached", "b", "end"])
    }

    @Test("a cancel drops what was not told, and nothing comes after it")
    func cancelled() {
        var delivery = begun()
        _ = delivery.next()
        #expect(cancel(&delivery))
        #expect(delivery.hasEnded)
        delivery.allow()
        #expect(told(&delivery) == [])
        #expect(!enqueue(data("late"), in: &delivery))
        #expect(told(&delivery) == [])
        #expect(!cancel(&delivery))
    }

    @Test("after the end a start, a suspension and more items mean nothing")
    func afterTheEnd() {
        var delivery = begun()
        _ = delivery.next()
        delivery.allow()
        _ = told(&delivery)
        delivery.suspend()
        #expect(delivery.hasEnded)
        #expect(delivery.start() == .ignore)
        #expect(!enqueue(data("late"), in: &delivery))
        #expect(told(&delivery) == [])
        #expect(!cancel(&delivery))
    }

    @Test("items after an end stay untold")
    func itemsAfterEnd() {
        var delivery = Delivery()
        _ = delivery.start()
        _ = delivery.enqueue(.end(nil))
        _ = delivery.enqueue(data("late"))
        #expect(told(&delivery) == ["end"])
    }

    @Test("the first start begins, the later ones go on")
    func starts() {
        var delivery = Delivery()
        delivery.suspend()
        #expect(delivery.start() == .begin)
        #expect(delivery.start() == .resume)
    }
}
