/// All suffixes of some bytes in sorted order, to find the longest match of other bytes among them.
///
/// A suffix that is the start of another one comes before it. Positions have 32 bits, so the array takes 4 bytes for
/// each byte, and at worst as many again while it is built.
struct SuffixArray: ~Copyable {
    /// The maximum number of bytes that can be sorted: 2 GiB minus one.
    static let maximumLength = Int(Int32.max)

    private let text: UnsafeBufferPointer<UInt8>
    /// The sorted positions of the suffixes.
    private let sorted: UnsafeMutableBufferPointer<Int32>
    /// The index of the first suffix for each pair of first bytes; the last entry is the end of the last pair.
    private let pairs: UnsafeMutableBufferPointer<Int32>

    /// Sorts the suffixes of bytes, which must stay valid as long as this value.
    ///
    /// - Complexity: O(*n*).
    /// - Throws: ``PatchError`` with `tooLarge` above ``maximumLength``.
    init(_ bytes: UnsafeRawBufferPointer) throws(PatchError) {
        guard bytes.count <= Self.maximumLength else { throw Self.tooLarge(bytes.count) }
        text = bytes.bindMemory(to: UInt8.self)
        sorted = .allocate(capacity: bytes.count)
        sorted.initialize(repeating: 0)
        pairs = .allocate(capacity: Self.pairCount + 1)
        pairs.initialize(repeating: 0)
        if let start = text.baseAddress, let positions = sorted.baseAddress {
            InducedSorting.sort(start, count: text.count, symbols: 256, into: positions)
        }
        countPairs()
    }

    static func tooLarge(_ count: Int) -> PatchError {
        PatchError(
            .tooLarge,
            "\(count) old bytes are more than the \(maximumLength) that a patch can be made from: "
                + "split them, or send the new bytes whole"
        )
    }

    deinit {
        sorted.deallocate()
        pairs.deallocate()
    }

    private static let pairCount = 1 << 16

    private func countPairs() {
        guard let last = text.last else { return }
        // The last suffix is a single byte; it comes where the pair of it and a zero would be, before all such pairs.
        for index in 0..<text.count - 1 {
            pairs[Self.pair(text[index], text[index + 1]) + 1] &+= 1
        }
        pairs[Self.pair(last, 0) + 1] &+= 1
        for pair in 0..<Self.pairCount { pairs[pair + 1] &+= pairs[pair] }
    }

    private static func pair(_ first: UInt8, _ second: UInt8) -> Int { Int(first) << 8 | Int(second) }

    /// Finds the longest match of the start of a query, and returns its position and length.
    ///
    /// A match of a single byte counts as none. Only the first `reach` bytes are compared: a longer match is reported
    /// with that length, at one of the positions that have it.
    func longestMatch(
        of query: UnsafeBufferPointer<UInt8>,
        reach: Int = .max
    ) -> (position: Int, length: Int) {
        guard query.count >= 2, text.count >= 2 else { return (0, 0) }
        let query = UnsafeBufferPointer(rebasing: query.prefix(reach))
        let pair = Self.pair(query[0], query[1])
        var low = Int(pairs[pair])
        var high = Int(pairs[pair + 1])
        var best = (position: 0, length: 0)
        // How many bytes the query shares with the suffixes just below and just above the remaining range; all
        // suffixes in the range share at least the smaller number.
        var shared = (below: 0, above: 0)
        while low < high {
            let middle = (low + high) >> 1
            let position = Int(sorted[middle])
            let start = min(shared.below, shared.above)
            let length = start + commonPrefix(query, from: start, position)
            if length > best.length { best = (position, length) }
            if length == query.count { break }
            if position + length == text.count || text[position + length] < query[length] {
                low = middle + 1
                shared.below = length
            } else {
                high = middle
                shared.above = length
            }
        }
        return best.length >= 2 ? best : (0, 0)
    }

    private func commonPrefix(_ query: UnsafeBufferPointer<UInt8>, from start: Int, _ position: Int) -> Int {
        commonPrefixLength(
            UnsafeBufferPointer(rebasing: query[start...]),
            UnsafeBufferPointer(rebasing: text[(position + start)...])
        )
    }
}

/// The number of bytes that two buffers have in common at their starts.
func commonPrefixLength(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
    let count = min(left.count, right.count)
    let (one, other) = (UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
    var index = 0
    // Eight bytes at a time: the lowest set bit of the difference, in little endian, is in the first byte that differs.
    while count - index >= 8 {
        let difference =
            UInt64(littleEndian: one.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            ^ UInt64(littleEndian: other.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        if difference != 0 { return index + difference.trailingZeroBitCount / 8 }
        index += 8
    }
    while index < count, one[index] == other[index] { index += 1 }
    return index
}
