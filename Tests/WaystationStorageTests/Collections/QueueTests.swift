import Testing
import WaystationStorage

@Suite("A queue")
struct QueueTests {
    /// A value that shows when it is released.
    private final class Value {}

    @Test("returns the values in their order, however adding and removing follow each other")
    func order() {
        var random = SystemRandomNumberGenerator()
        var queue: Queue<Int> = [0]
        var (added, removed) = (1, 0)
        for _ in 0..<10_000 {
            if Int.random(in: 0..<5, using: &random) < 3 {
                queue.append(added)
                added += 1
            } else if let value = queue.popFirst() {
                #expect(value == removed)
                removed += 1
            } else {
                #expect(removed == added)
            }
            #expect(queue.isEmpty == (removed == added))
        }
        while let value = queue.popFirst() {
            #expect(value == removed)
            removed += 1
        }
        #expect(removed == added && queue.isEmpty)
    }

    @Test("holds no value that it has returned")
    func release() {
        var queue: Queue<Value> = []
        weak var first: Value?
        do {
            let value = Value()
            first = value
            queue.append(value)
        }
        queue.append(Value())
        #expect(first != nil)
        _ = queue.popFirst()
        #expect(first == nil)
    }
}
