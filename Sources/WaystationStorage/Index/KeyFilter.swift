import WaystationCaching

/// A hash of a key.
struct KeyHash: Sendable {
    let value: UInt64

    init(_ key: RequestKey) {
        var hash: UInt64 = 0
        for text in [key.url, key.method, key.partition] {
            var text = text
            hash = text.withUTF8 { XXH64.of(UnsafeRawBufferPointer($0), seed: hash) }
        }
        value = hash
    }

    /// The hash of the key in the first three columns of a row: its URL, its method and its partition.
    init(_ row: Row) {
        value = (0..<3).reduce(0) { hash, column in
            row.withBytes(CInt(column)) { XXH64.of($0, seed: hash) } ?? hash
        }
    }
}

/// A Bloom filter of keys: it may contain a key that was never inserted, and always contains one that was.
struct KeyFilter: Sendable {
    /// With 16 bits a key and four bits set, 1 of 400 absent keys seems to be present.
    private static let bitsPerKey = 16
    private static let bitsSet = 4
    private static let smallest = 4_096
    /// 8 MiB; with more than four million keys, more absent keys seem to be present.
    private static let largest = 1 << 22

    private let capacity: Int
    private var count = 0
    private var words: [UInt64]

    /// Makes an empty filter for about this number of keys.
    init(capacity: Int) {
        var rounded = Self.smallest
        while rounded < min(capacity, Self.largest) { rounded *= 2 }
        self.capacity = rounded
        words = Array(repeating: 0, count: rounded * Self.bitsPerKey / 64)
    }

    /// Whether there are more keys than the filter was made for; a filter of the largest size never says so.
    var isCrowded: Bool { count > capacity && capacity < Self.largest }

    mutating func insert(_ hash: KeyHash) {
        count += 1
        for bit in bits(of: hash) { words[bit / 64] |= 1 << UInt64(bit % 64) }
    }

    func contains(_ hash: KeyHash) -> Bool {
        bits(of: hash).allSatisfy { words[$0 / 64] & 1 << UInt64($0 % 64) != 0 }
    }

    private func bits(of hash: KeyHash) -> some Sequence<Int> {
        // The number of bits is a power of two. The second half is odd, so the places differ.
        let mask = UInt64(words.count * 64 - 1)
        let (first, step) = (hash.value & 0xFFFF_FFFF, hash.value >> 32 | 1)
        return (0..<UInt64(Self.bitsSet)).lazy.map { Int((first &+ $0 &* step) & mask) }
    }
}
