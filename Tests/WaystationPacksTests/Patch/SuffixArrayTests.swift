import Foundation
import Testing

@testable import WaystationPacks

@Suite("Suffix array")
struct SuffixArrayTests {
    @Test("finds a longest match for every query", arguments: [2, 4, 256])
    func findsLongestMatch(symbols: Int) throws {
        var generator = SeededGenerator(seed: UInt64(symbols) + 100)
        for _ in 0..<40 {
            let text = generator.bytes(Int.random(in: 0...200, using: &generator), symbols: symbols)
            try withSuffixArray(text) { suffixes in
                for _ in 0..<20 {
                    let start = Int.random(in: 0...text.count, using: &generator)
                    let query = text[start...].prefix(20) + generator.bytes(5, symbols: symbols)
                    expectLongestMatch(of: Data(query), in: text, suffixes)
                }
            }
        }
    }

    @Test("compares at most as many bytes as its reach")
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
        // Only the count is read; the address is not valid.
        let start = UnsafeRawPointer(bitPattern: 4096)
        let error = #expect(throws: PatchError.self) {
            _ = try SuffixArray(UnsafeRawBufferPointer(start: start, count: 1 << 31))
        }
        #expect(error?.code == .tooLarge)
    }

    private func withSuffixArray(_ text: Data, _ body: (borrowing SuffixArray) throws -> Void) throws {
        try text.withUnsafeBytes { try body(SuffixArray($0)) }
    }

    private func expectLongestMatch(of query: Data, in text: Data, _ suffixes: borrowing SuffixArray) {
        let (query, bytes) = ([UInt8](query), [UInt8](text))
        func common(_ start: Int) -> Int { zip(query, bytes[start...]).prefix { $0 == $1 }.count }
        let longest = bytes.indices.map(common).max() ?? 0
        let found = query.withUnsafeBufferPointer { suffixes.longestMatch(of: $0) }
        #expect(found.length == (longest < 2 ? 0 : longest))
        if found.length > 0 { #expect(common(found.position) == found.length) }
    }
}
