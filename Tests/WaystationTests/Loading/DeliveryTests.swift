import Foundation
import FoundationNetworking
import Testing

@testable import Waystation

@Suite("Delivery to a task")
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

    /// All items that may be delivered now, in order.
    private func told(_ delivery: inout Delivery) -> [String] {
        var told: [String] = []
        while let item = delivery.next() { told.append(name(item)) }
        return told
    }

    private func data(_ text: String) -> Delivery.Item { .data(Data(text.utf8)) }

    // `#expect` cannot call a mutating method by itself.
    private func enqueue(_ item: Delivery.Item, in delivery: inout Delivery) -> Bool { delivery.enqueue(item) }

    private func cancel(_ delivery: inout Delivery) -> Bool { delivery.cancel() != nil }

    /// A delivery that has begun and holds a whole response.
    private func begun() -> Delivery {
        var delivery = Delivery()
        delivery.start()
        for item in [.response(ResponseHead(head)), data("a"), .reached({}), data("b"), .end(nil)] {
            _ = delivery.enqueue(item)
        }
        return delivery
    }

    @Test("delivers items in order, and the end once")
    func order() {
        var delivery = begun()
        #expect(told(&delivery) == ["response"])
        delivery.allow()
        #expect(told(&delivery) == ["a", "reached", "b", "end"])
        #expect(delivery.hasEnded)
        #expect(told(&delivery) == [])
    }

    @Test("delivers nothing after a response before the delegate has allowed it, not even an error")
    func disposition() {
        var delivery = Delivery()
        delivery.start()
        _ = delivery.enqueue(.response(ResponseHead(head)))
        #expect(told(&delivery) == ["response"])
        #expect(enqueue(.end(URLError(.timedOut)), in: &delivery))
        #expect(told(&delivery) == [])
        #expect(!delivery.hasEnded)
        delivery.allow()
        #expect(told(&delivery) == ["error"])
    }

    @Test("delivers nothing before the start")
    func beforeStart() {
        var delivery = Delivery()
        #expect(enqueue(.response(ResponseHead(head)), in: &delivery))
        #expect(told(&delivery) == [])
        delivery.start()
        #expect(told(&delivery) == ["response"])
    }

    @Test("delivers nothing to a suspended task; items wait until it is resumed")
    func suspended() {
        var delivery = begun()
        _ = delivery.next()
        delivery.allow()
        #expect(name(delivery.next()) == "a")
        delivery.suspend()
        #expect(told(&delivery) == [])
        delivery.start()
        #expect(told(&delivery) == ["reached", "b", "end"])
    }

    @Test("stays suspended when the delegate answers during the suspension")
    func suspendedWhileAsked() {
        var delivery = begun()
        _ = delivery.next()
        delivery.suspend()
        delivery.allow()
        #expect(told(&delivery) == [])
        delivery.start()
        #expect(told(&delivery) == ["a", "reached", "b", "end"])
    }

    @Test("drops the remaining items at a cancel, and delivers nothing after it")
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

    @Test("ignores a start, a suspension and more items after the end")
    func afterTheEnd() {
        var delivery = begun()
        _ = delivery.next()
        delivery.allow()
        _ = told(&delivery)
        delivery.suspend()
        #expect(delivery.hasEnded)
        delivery.start()
        #expect(delivery.hasEnded)
        #expect(!enqueue(data("late"), in: &delivery))
        #expect(told(&delivery) == [])
        #expect(!cancel(&delivery))
    }

    @Test("does not deliver items after an end")
    func itemsAfterEnd() {
        var delivery = Delivery()
        delivery.start()
        _ = delivery.enqueue(.end(nil))
        _ = delivery.enqueue(data("late"))
        #expect(told(&delivery) == ["end"])
    }

    @Test("begins at the first start, whether it was suspended before or not, and once only")
    func starts() {
        var delivery = Delivery()
        delivery.suspend()
        delivery.start()
        delivery.start()
        #expect(enqueue(.response(ResponseHead(head)), in: &delivery))
        #expect(told(&delivery) == ["response"])
        #expect(told(&delivery) == [])
    }
}
