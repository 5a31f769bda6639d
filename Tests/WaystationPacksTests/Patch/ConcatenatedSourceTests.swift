import Foundation
import Testing
import WaystationStorage

@Suite("Sources read as one")
struct ConcatenatedSourceTests {
    @Test(
        "every range reads the same bytes as the joined data",
        arguments: [[], [5], [0, 3, 0, 0, 4, 1, 0], [1, 1, 1, 1, 1], [0]]
    )
    func everyRange(lengths: [Int]) throws {
        var generator = SeededGenerator(seed: 3)
        let parts = lengths.map { generator.bytes($0) }
        let joined = parts.reduce(Data(), +)
        let source = try #require(ConcatenatedSource(parts.map { DataSource($0) }))
        #expect(source.length == joined.count)
        for start in 0...joined.count + 1 {
            for count in 0...joined.count + 2 {
                var buffer = [UInt8](repeating: 0, count: count)
                let read = try buffer.withUnsafeMutableBytes { try source.read(at: start, into: $0) }
                #expect(Data(buffer.prefix(read)) == joined.dropFirst(start).prefix(count))
            }
        }
    }

    @Test("reads nothing before the beginning")
    func negativeOffset() throws {
        let source = try #require(ConcatenatedSource([DataSource(Data([1]))]))
        var buffer = [UInt8](repeating: 0, count: 1)
        #expect(try buffer.withUnsafeMutableBytes { try source.read(at: -1, into: $0) } == 0)
    }

    @Test("a part that became shorter ends the read, so that no byte moves to another offset")
    func shortPart() throws {
        let source = try #require(ConcatenatedSource([ShortSource(length: 10, present: 4), DataSource(Data([9]))]))
        var buffer = [UInt8](repeating: 0, count: 11)
        #expect(try buffer.withUnsafeMutableBytes { try source.read(at: 0, into: $0) } == 4)
    }

    @Test("parts whose joint length overflows are refused")
    func overflow() {
        #expect(ConcatenatedSource([ShortSource(length: .max, present: 0), DataSource(Data([1]))]) == nil)
        #expect(ConcatenatedSource([ShortSource(length: .max, present: 0)]) != nil)
    }
}

private struct ShortSource: ByteSource {
    let length: Int
    let present: Int

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        max(0, min(buffer.count, present - offset))
    }
}
