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
