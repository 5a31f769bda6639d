/// All suffixes of some bytes in sorted order, to find the longest match of other bytes in them.
///
/// A suffix that another one begins with comes before it. Positions have 32 bits: 4 bytes of memory for each byte, and
/// at worst as many again while it is built.
struct SuffixArray: ~Copyable {
    /// The most bytes that can be sorted: 2 GiB less one.
    static let maximumLength = Int(Int32.max)

    private let text: UnsafeBufferPointer<UInt8>
    /// The positions of the suffixes, in their order.
    private let sorted: UnsafeMutableBufferPointer<Int32>
    /// Where the suffixes with each pair of first bytes begin; the last entry ends the last pair.
    private let pairs: UnsafeMutableBufferPointer<Int32>

    /// Sorts the suffixes of bytes, which must stay in place as long as this value does.
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
        // The last suffix is one byte; it stands where the pair of it and a zero would, before all such pairs.
        for index in 0..<text.count - 1 {
            pairs[Self.pair(text[index], text[index + 1]) + 1] &+= 1
        }
        pairs[Self.pair(last, 0) + 1] &+= 1
        for pair in 0..<Self.pairCount { pairs[pair + 1] &+= pairs[pair] }
    }

    private static func pair(_ first: UInt8, _ second: UInt8) -> Int { Int(first) << 8 | Int(second) }

    /// Where the bytes match the beginning of a query for longest, and for how long.
    ///
    /// Matches of a single byte count as none. Only the first `reach` bytes are compared: a longer match is reported with
    /// that length, at one of the places that have it.
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
        // What the query shares with the suffixes below and above what is left: all between share the less of the two.
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

/// How many bytes two buffers have in common from their beginnings on.
func commonPrefixLength(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
    let count = min(left.count, right.count)
    let (one, other) = (UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
    var index = 0
    // Eight at a time: the lowest set bit of the difference, little endian, is in the first byte that differs.
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
