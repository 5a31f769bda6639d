/// Sorts suffixes by induced sorting (SA-IS: Nong, Zhang and Chan, "Two Efficient Algorithms for Linear Time Suffix
/// Array Construction", 2011).
///
/// A suffix is *S* when it is less than the next one, and *L* when it is greater; the last one is L, since the end is
/// less than everything. An S suffix after an L one is *LMS*. At most every second suffix is LMS; once these are
/// sorted, two passes put all others in place. To sort the LMS suffixes, the pieces between them get names in their
/// order, and the suffixes of the string of these names are sorted.
///
/// All arithmetic is on positions below 2³¹ that this code computed itself, so it uses wrapping operators (`&+`) to
/// avoid the cost of overflow checks.
enum InducedSorting {
    typealias Symbol = FixedWidthInteger & Sendable

    /// Sorts the suffixes of `count` symbols, each in `0..<symbols`, and writes their `count` positions.
    static func sort<S: Symbol>(
        _ text: UnsafePointer<S>,
        count: Int,
        symbols: Int,
        into sorted: UnsafeMutablePointer<Int32>
    ) {
        guard count > 1 else {
            if count == 1 { sorted[0] = 0 }
            return
        }
        let buckets = Buckets(text, count: count, symbols: symbols)
        defer { buckets.deallocate() }
        let marks = Marks(text, count: count)
        defer { marks.deallocate() }

        // First the LMS suffixes, in any order within their buckets: inducing from them sorts the pieces between them.
        sorted.update(repeating: 0, count: count)
        buckets.pointToEnds()
        marks.forEach { position in sorted[buckets.previous(text[position])] = Int32(truncatingIfNeeded: position) }
        induce(text, count: count, buckets, sorted)

        // After the pieces, the LMS suffixes are brought into their true order, which the pieces give directly or by
        // sorting the string of their names.
        var pieces = 0
        for index in 0..<count where marks[Int(sorted[index])] {
            sorted[pieces] = sorted[index]
            pieces &+= 1
        }
        guard pieces > 0 else { return }
        sortPieces(text, count: count, marks, pieces: pieces, sorted)

        // Spread over the ends of their buckets, the last one first, so that no position is overwritten before it has
        // moved.
        (sorted + pieces).update(repeating: 0, count: count &- pieces)
        buckets.pointToEnds()
        for index in stride(from: pieces &- 1, through: 0, by: -1) {
            let position = sorted[index]
            sorted[index] = 0
            sorted[buckets.previous(text[Int(position)])] = position
        }
        induce(text, count: count, buckets, sorted)
    }

    /// Sorts LMS positions, which are sorted by their pieces, by their suffixes.
    private static func sortPieces<S: Symbol>(
        _ text: UnsafePointer<S>,
        count: Int,
        _ marks: Marks,
        pieces: Int,
        _ sorted: UnsafeMutablePointer<Int32>
    ) {
        // No two LMS positions are neighbours, so half of a position is the index of its own slot behind the pieces.
        let slots = sorted + pieces
        slots.update(repeating: 0, count: count &- pieces)
        // The length of a piece includes the LMS symbol that ends it; the last piece ends with the text and equals no
        // other.
        var end = count
        marks.forEachBackwards { position in
            slots[position >> 1] = Int32(truncatingIfNeeded: end &- position &+ 1)
            end = position
        }
        var names: Int32 = 0
        var (previous, previousLength) = (0, 0)
        for index in 0..<pieces {
            let position = Int(sorted[index])
            let length = Int(slots[position >> 1])
            let isSame =
                length == previousLength && max(position, previous) &+ length <= count
                && isEqual(text + position, text + previous, length)
            if !isSame { names &+= 1 }
            slots[position >> 1] = names
            (previous, previousLength) = (position, length)
        }
        guard names < pieces else { return }

        // The names in the order of the text, at the end of the array; zero is an empty slot, so names start at one.
        let reduced = sorted + (count &- pieces)
        var next = pieces &- 1
        for slot in stride(from: count &- pieces &- 1, through: 0, by: -1) where slots[slot] != 0 {
            reduced[next] = slots[slot] &- 1
            next &-= 1
        }
        sort(UnsafePointer(reduced), count: pieces, symbols: Int(names), into: sorted)

        next = 0
        marks.forEach { position in
            reduced[next] = Int32(truncatingIfNeeded: position)
            next &+= 1
        }
        for index in 0..<pieces { sorted[index] = reduced[Int(sorted[index])] }
    }

    private static func isEqual<S: Symbol>(_ left: UnsafePointer<S>, _ right: UnsafePointer<S>, _ count: Int) -> Bool {
        for index in 0..<count where left[index] != right[index] { return false }
        return true
    }

    /// Sorts all suffixes from LMS suffixes at the ends of their buckets; every other entry must be zero.
    ///
    /// A pass visits each suffix in order, and puts the suffix that begins one symbol earlier into its bucket, if that
    /// is of the pass's type. The symbol before that one shows whether the stored suffix will induce another one in
    /// this pass. If not, it is stored as its complement, so that the visit can skip it without reading the text.
    private static func induce<S: Symbol>(
        _ text: UnsafePointer<S>,
        count: Int,
        _ buckets: Buckets,
        _ sorted: UnsafeMutablePointer<Int32>
    ) {
        // L suffixes, from the least one. The end of the text, which is less than everything, induces the last one.
        buckets.pointToStarts()
        let last = count &- 1
        sorted[buckets.next(text[last])] =
            text[last &- 1] < text[last]
            ? ~Int32(truncatingIfNeeded: last)
            : Int32(truncatingIfNeeded: last)
        for index in 0..<count {
            let entry = sorted[index]
            // An entry is done once it was visited in a pass; its complement makes skipped entries visible to the next
            // pass.
            sorted[index] = ~entry
            guard entry > 0 else { continue }
            let position = entry &- 1
            let symbol = text[Int(position)]
            let induces = position == 0 || text[Int(position) &- 1] >= symbol
            sorted[buckets.next(symbol)] = induces ? position : ~position
        }
        // S suffixes, from the greatest one; they overwrite the LMS ones.
        buckets.pointToEnds()
        for index in stride(from: count &- 1, through: 0, by: -1) {
            let entry = sorted[index]
            guard entry > 0 else {
                sorted[index] = ~entry
                continue
            }
            let position = entry &- 1
            let symbol = text[Int(position)]
            let induces = position > 0 && text[Int(position) &- 1] <= symbol
            sorted[buckets.previous(symbol)] = induces ? position : ~position
        }
    }
}

extension InducedSorting {
    /// The range of sorted positions for each first symbol, filled from its start or from its end.
    struct Buckets {
        private let sizes: UnsafeMutableBufferPointer<Int32>
        private let cursors: UnsafeMutableBufferPointer<Int32>

        init<S: Symbol>(_ text: UnsafePointer<S>, count: Int, symbols: Int) {
            sizes = .allocate(capacity: symbols)
            cursors = .allocate(capacity: symbols)
            sizes.initialize(repeating: 0)
            cursors.initialize(repeating: 0)
            for index in 0..<count { sizes[Int(truncatingIfNeeded: text[index])] &+= 1 }
        }

        func deallocate() {
            sizes.deallocate()
            cursors.deallocate()
        }

        func pointToStarts() {
            var sum: Int32 = 0
            for symbol in 0..<sizes.count {
                cursors[symbol] = sum
                sum &+= sizes[symbol]
            }
        }

        func pointToEnds() {
            var sum: Int32 = 0
            for symbol in 0..<sizes.count {
                sum &+= sizes[symbol]
                cursors[symbol] = sum
            }
        }

        /// Takes the next free place from the start of a bucket.
        @inline(__always)
        func next<S: Symbol>(_ symbol: S) -> Int {
            let place = cursors[Int(truncatingIfNeeded: symbol)]
            cursors[Int(truncatingIfNeeded: symbol)] = place &+ 1
            return Int(place)
        }

        /// Takes the next free place from the end of a bucket, backwards.
        @inline(__always)
        func previous<S: Symbol>(_ symbol: S) -> Int {
            let place = cursors[Int(truncatingIfNeeded: symbol)] &- 1
            cursors[Int(truncatingIfNeeded: symbol)] = place
            return Int(place)
        }
    }

    /// The set of LMS positions, with one bit for each position.
    struct Marks {
        private let words: UnsafeMutableBufferPointer<UInt64>

        init<S: Symbol>(_ text: UnsafePointer<S>, count: Int) {
            words = .allocate(capacity: (count &+ 63) >> 6)
            words.initialize(repeating: 0)
            var isS = false
            for position in stride(from: count &- 2, through: 0, by: -1) {
                let (symbol, next) = (text[position], text[position &+ 1])
                if symbol > next {
                    if isS { words[(position &+ 1) >> 6] |= 1 << UInt64((position &+ 1) & 63) }
                    isS = false
                } else if symbol < next {
                    isS = true
                }
            }
        }

        func deallocate() { words.deallocate() }

        @inline(__always)
        subscript(position: Int) -> Bool { words[position >> 6] >> UInt64(position & 63) & 1 == 1 }

        /// Calls `body` with the marked positions, in order.
        @inline(__always)
        func forEach(_ body: (Int) -> Void) {
            for index in 0..<words.count {
                var word = words[index]
                while word != 0 {
                    body(index << 6 &+ word.trailingZeroBitCount)
                    word &= word &- 1
                }
            }
        }

        /// Calls `body` with the marked positions, from the last to the first.
        @inline(__always)
        func forEachBackwards(_ body: (Int) -> Void) {
            for index in stride(from: words.count &- 1, through: 0, by: -1) {
                var word = words[index]
                while word != 0 {
                    let bit = 63 &- word.leadingZeroBitCount
                    body(index << 6 &+ bit)
                    word &= ~(1 << UInt64(bit))
                }
            }
        }
    }
}
