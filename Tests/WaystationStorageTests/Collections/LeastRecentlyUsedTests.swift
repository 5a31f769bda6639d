import Testing
import WaystationStorage

@Suite("A list by last use")
struct LeastRecentlyUsedTests {
    private func list(_ keys: String...) -> LeastRecentlyUsed<String, Int> {
        var list = LeastRecentlyUsed<String, Int>()
        for (number, key) in keys.enumerated() { list.insert(number, for: key, cost: 10) }
        return list
    }

    @Test("removes entries in the order of their insertion if none is used")
    func insertionOrder() {
        var list = list("a", "b", "c")
        let removed = (1...4).map { _ in list.removeOldest() }
        #expect(removed == [0, 1, 2, nil])
        #expect(list.count == 0 && list.cost == 0)
    }

    @Test("removes an entry that was used after those that were not")
    func use() throws {
        var list = list("a", "b", "c")
        list.use(try #require(list.position(of: "a")))
        list.use(try #require(list.position(of: "c")))
        let removed = (1...3).map { _ in list.removeOldest() }
        #expect(removed == [1, 0, 2])
    }

    @Test("replaces the value of a key, and makes it the most recently used one")
    func replace() {
        var list = list("a", "b")
        let replaced = list.insert(7, for: "a", cost: 3)
        #expect(replaced == 0)
        #expect(list.count == 2 && list.cost == 13)
        let removed = (1...2).map { _ in list.removeOldest() }
        #expect(removed == [1, 7])
    }

    @Test("changes a value and its cost where it is")
    func update() throws {
        var list = list("a", "b")
        let position = try #require(list.position(of: "a"))
        list.update(position) { value in
            value += 100
            return -4
        }
        #expect(list[position] == 100 && list.cost == 16)
        let removed = list.removeOldest()
        #expect(removed == 100 && list.cost == 10)
    }

    @Test("finds no removed entry, and gives its place to a later one")
    func removal() {
        var list = list("a", "b", "c")
        let removed = (1...2).map { _ in list.remove("b") }
        #expect(removed == [1, nil])
        #expect(list.position(of: "b") == nil)
        list.insert(9, for: "d", cost: 1)
        #expect(list.count == 3 && list.cost == 21)
        let all = list.removeAll()
        #expect(all == [0, 9, 2])
        #expect(list.count == 0 && list.cost == 0)
    }

    @Test("agrees with a simple list in ten thousand random steps")
    func agreesWithModel() {
        var generator = SystemRandomNumberGenerator()
        let seed = generator.next()
        var state = seed
        func random(_ bound: UInt64) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % bound)
        }
        var list = LeastRecentlyUsed<Int, Int>()
        var model: [(key: Int, value: Int, cost: Int)] = []
        for step in 0..<10_000 {
            let key = random(20)
            let place = model.firstIndex { $0.key == key }
            switch random(5) {
            case 0:
                let cost = random(50)
                list.insert(step, for: key, cost: cost)
                if let place { model.remove(at: place) }
                model.append((key, step, cost))
            case 1:
                let removed = list.remove(key)
                #expect(removed == place.map { model[$0].value }, "seed \(seed)")
                if let place { model.remove(at: place) }
            case 2:
                let removed = list.removeOldest()
                #expect(removed == model.first?.value, "seed \(seed)")
                if !model.isEmpty { model.removeFirst() }
            default:
                #expect((list.position(of: key) != nil) == (place != nil), "seed \(seed)")
                if let position = list.position(of: key), let place {
                    list.use(position)
                    model.append(model.remove(at: place))
                }
            }
            #expect(list.cost == model.reduce(0) { $0 + $1.cost }, "seed \(seed)")
            #expect(list.count == model.count, "seed \(seed)")
        }
    }
}
