/// Several sources that are read as one, one after another.
public struct ConcatenatedSource: ByteSource {
    private let parts: [any ByteSource]
    /// The end of each part, counted from the beginning of the first part.
    private let ends: [Int]

    /// The total number of bytes of all parts.
    public var length: Int { ends.last ?? 0 }

    /// Makes a source of these parts in this order; nil when their total length exceeds `Int.max`.
    public init?(_ parts: [any ByteSource]) {
        var ends: [Int] = []
        ends.reserveCapacity(parts.count)
        var end = 0
        for part in parts {
            let (next, overflow) = end.addingReportingOverflow(part.length)
            guard !overflow else { return nil }
            end = next
            ends.append(end)
        }
        self.parts = parts
        self.ends = ends
    }

    /// Reads across the boundaries of the parts; stops early at a part that has become shorter.
    ///
    /// - Complexity: O(log *n*) to find the first of *n* parts.
    /// - Throws: The error of reading a part.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard offset >= 0, offset < length else { return 0 }
        var index = firstPart(endingAfter: offset)
        var start = offset - (index == 0 ? 0 : ends[index - 1])
        var filled = 0
        while filled < buffer.count, index < parts.count {
            let part = parts[index]
            let wanted = min(buffer.count - filled, part.length - start)
            if wanted > 0 {
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + wanted])
                let got = try part.read(at: start, into: piece)
                filled += got
                if got < wanted { break }
            }
            index += 1
            start = 0
        }
        return filled
    }

    /// Finds the part by binary search; an empty part is never the first that ends after an offset.
    private func firstPart(endingAfter offset: Int) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
