import Foundation
import Testing

@testable import WaystationPatch

@Suite("Suffix array")
struct SuffixArrayTests {
    @Test(
        "sorts what is hard to sort",
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

    @Test("sorts every string of up to eight of three symbols")
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

    @Test("finds a longest match of every query", arguments: [2, 4, 256])
    func findsLongestMatch(symbols: Int) throws {
        var generator = SeededGenerator(seed: UInt64(symbols) + 100)
        for _ in 0..<40 {
            let text = generator.bytes(Int.random(in: 0...200, using: &generator), symbols: symbols)
            for _ in 0..<20 {
                let start = Int.random(in: 0...text.count, using: &generator)
                let query = text[start...].prefix(20) + generator.bytes(5, symbols: symbols)
                try expectLongestMatch(of: Data(query), in: text)
            }
        }
    }

    @Test("compares no further than its reach")
    func stopsAtItsReach() throws {
        let text = Data(repeating: 7, count: 100)
        try withSuffixArray(text) { suffixes in
            text.withUnsafeBytes { bytes in
                let query = bytes.bindMemory(to: UInt8.self)
                #expect(suffixes.longestMatch(of: query, reach: 30).length == 30)
                #expect(suffixes.longestMatch(of: query).length == 100)
            }
        }
    }

    @Test("refuses more bytes than its positions can count")
    func refusesTooManyBytes() throws {
        // Only the count is looked at: there is nothing at the address.
        let start = UnsafeRawPointer(bitPattern: 4096)
        let error = #expect(throws: PatchError.self) {
            _ = try SuffixArray(UnsafeRawBufferPointer(start: start, count: 1 << 31))
        }
        #expect(error?.code == .tooLarge)
    }

    private func withSuffixArray(_ text: Data, _ body: (borrowing SuffixArray) throws -> Void) throws {
        try text.withUnsafeBytes { try body(SuffixArray($0)) }
    }

    private func isSorted(_ text: Data) throws -> Bool {
        let bytes = [UInt8](text)
        let naive = bytes.indices.sorted { bytes[$0...].lexicographicallyPrecedes(bytes[$1...]) }
        var sorted: [Int] = []
        try withSuffixArray(text) { sorted = $0.positions.map { Int($0) } }
        return sorted == naive
    }

    private func expectSorted(_ text: Data) throws {
        let result = try isSorted(text)
        #expect(result, "\([UInt8](text))")
    }

    private func expectLongestMatch(of query: Data, in text: Data) throws {
        let (query, bytes) = ([UInt8](query), [UInt8](text))
        func common(_ start: Int) -> Int { zip(query, bytes[start...]).prefix { $0 == $1 }.count }
        let longest = bytes.indices.map(common).max() ?? 0
        try withSuffixArray(text) { suffixes in
            let found = query.withUnsafeBufferPointer { suffixes.longestMatch(of: $0) }
            #expect(found.length == (longest < 2 ? 0 : longest))
            if found.length > 0 { #expect(common(found.position) == found.length) }
        }
    }
}
