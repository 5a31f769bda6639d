import Foundation
import Testing

@testable import WaystationPacks

@Suite("Induced sorting of suffixes")
struct InducedSortingTests {
    @Test(
        "sorts strings that are hard to sort",
        arguments: [
            "", "a", "aa", "ab", "ba", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "abababababababababab",
            "babababababababababa",
            "mississippi", "banana", "abracadabra", "zyxwvutsrqponmlkjihgfedcba", "abcdefghijklmnopqrstuvwxyz",
            "aabaabaabaabaab", "\u{0}\u{0}\u{0}\u{1}\u{0}", "ACTGACTGACTTACTG",
        ]
    )
    func sortsHardStrings(text: String) throws {
        try expectSorted(Data(text.utf8))
    }

    @Test("sorts Fibonacci and Thue-Morse strings, the worst cases of many sorters", arguments: 1...14)
    func sortsRecursiveStrings(order: Int) throws {
        var (fibonacci, shorter) = (Data("ab".utf8), Data("a".utf8))
        var thueMorse = Data([0])
        for _ in 0..<order {
            (fibonacci, shorter) = (fibonacci + shorter, fibonacci)
            if thueMorse.count < 1_000 { thueMorse += Data(thueMorse.map { 1 - $0 }) }
        }
        try expectSorted(fibonacci)
        try expectSorted(thueMorse)
    }

    @Test("sorts every string of up to eight symbols out of three")
    func sortsAllShortStrings() throws {
        for count in 0...8 {
            var strings = 1
            for _ in 0..<count { strings *= 3 }
            for number in 0..<strings {
                var rest = number
                let text = Data(
                    (0..<count).map { _ in
                        defer { rest /= 3 }; return UInt8(rest % 3) * 127
                    }
                )
                try expectSorted(text)
            }
        }
    }

    @Test("sorts random strings of few and many symbols", arguments: [2, 3, 26, 256])
    func sortsRandomStrings(symbols: Int) throws {
        var generator = SeededGenerator(seed: UInt64(symbols))
        for _ in 0..<60 {
            try expectSorted(generator.bytes(Int.random(in: 0...600, using: &generator), symbols: symbols))
        }
    }

    @Test("sorts periodic strings with one wrong byte", arguments: [1, 2, 3, 7, 64, 255])
    func sortsNearlyPeriodicStrings(period: Int) throws {
        var generator = SeededGenerator(seed: UInt64(period))
        let unit = generator.bytes(period)
        for _ in 0..<10 {
            var text = Data((0..<1_000).map { unit[$0 % period] })
            try expectSorted(text)
            text[Int.random(in: 0..<1_000, using: &generator)] &+= 1
            try expectSorted(text)
        }
    }

    private func expectSorted(_ text: Data) throws {
        let sorted = text.withUnsafeBytes { bytes in
            [Int32](unsafeUninitializedCapacity: text.count) { positions, count in
                count = text.count
                guard let text = bytes.bindMemory(to: UInt8.self).baseAddress, let start = positions.baseAddress else {
                    return
                }
                start.initialize(repeating: 0, count: count)
                InducedSorting.sort(text, count: count, symbols: 256, into: start)
            }
        }
        try #require(sorted == naivelySorted(text), "\([UInt8](text))")
    }

    private func naivelySorted(_ text: Data) -> [Int32] {
        text.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return [] }
            return (0..<Int32(text.count)).sorted { left, right in
                // The shorter suffix has the larger position.
                let order = memcmp(start + Int(left), start + Int(right), text.count - Int(max(left, right)))
                return order == 0 ? left > right : order < 0
            }
        }
    }
}
