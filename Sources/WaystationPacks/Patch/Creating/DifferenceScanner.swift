/// Describes new bytes by old ones, as in Percival's "Naive Differences of Executable Code" (2003).
///
/// The scanner walks over the new bytes and searches the longest exact match in the old ones at each position. It stays
/// with the present match (its *alignment*) as long as that predicts the bytes ahead about as well: a few wrong bytes
/// are cheap, since their differences compress well. A match that is better by more than ``advantage`` starts a new
/// part. The bytes between two parts are then divided: each part takes as many of them as mostly agree with it.
struct DifferenceScanner: ~Copyable {
    /// How many more bytes a match must predict to justify its own instruction.
    private static let advantage = 8
    /// The length from which a match counts as no worse than any longer one.
    ///
    /// Comparing further at each of a million equal bytes would take quadratic time.
    private static let reach = 4 << 10

    private let old: UnsafeBufferPointer<UInt8>
    private let new: UnsafeBufferPointer<UInt8>
    private let suffixes: SuffixArray

    /// The present position in the new bytes.
    private var scan = 0
    /// The last match: its position in the old bytes, and its length.
    private var match = (position: 0, length: 0)
    /// The start of the part that has not been returned yet, in the new and in the old bytes.
    private var partStart = (new: 0, old: 0)
    /// The old position minus the new one, within the part that has not been returned yet.
    private var alignment = 0
    /// An exact match longer than ``reach``: its alignment, and its end in the new bytes.
    private var longMatch = (alignment: 0, end: 0)

    /// Prepares a scan; both buffers must stay valid as long as this value.
    ///
    /// - Throws: ``PatchError`` with `tooLarge` when there are too many old bytes to sort.
    init(old: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer) throws(PatchError) {
        self.old = old.bindMemory(to: UInt8.self)
        self.new = new.bindMemory(to: UInt8.self)
        suffixes = try SuffixArray(old)
    }

    /// Returns the next part of the new bytes; nil after the last.
    mutating func next() -> Difference? {
        while scan < new.count {
            scan += match.length
            let predicted = walk()
            if match.length != predicted || scan == new.count { return endPart() }
        }
        return nil
    }

    /// Walks to the next match that ends the present part; returns how many of its bytes the alignment predicts.
    private mutating func walk() -> Int {
        var predicted = 0
        // `predicted` is the number of predicted bytes in scan..<counted.
        var counted = scan
        while scan < new.count {
            // The alignment predicts so many bytes that no better match is searched before they end.
            let aligned = matchLength(alignment)
            if aligned >= Self.reach {
                match = (scan + alignment, aligned)
                return aligned
            }
            match = longestMatch()
            while counted < scan + match.length {
                if isPredicted(counted) { predicted += 1 }
                counted += 1
            }
            if match.length == predicted && match.length != 0 { break }
            if match.length > predicted + Self.advantage { break }
            if isPredicted(scan) { predicted -= 1 }
            scan += 1
        }
        return predicted
    }

    private func isPredicted(_ index: Int) -> Bool {
        let position = index + alignment
        return position >= 0 && position < old.count && old[position] == new[index]
    }

    private mutating func longestMatch() -> (position: Int, length: Int) {
        if longMatch.end - scan >= Self.reach { return (scan + longMatch.alignment, longMatch.end - scan) }
        var found = suffixes.longestMatch(of: UnsafeBufferPointer(rebasing: new[scan...]), reach: Self.reach)
        if found.length == Self.reach {
            found.length = matchLength(found.position - scan)
            longMatch = (found.position - scan, scan + found.length)
        }
        return found
    }

    private func matchLength(_ alignment: Int) -> Int {
        let position = scan + alignment
        guard position >= 0, position < old.count else { return 0 }
        return commonPrefixLength(
            UnsafeBufferPointer(rebasing: new[scan...]),
            UnsafeBufferPointer(rebasing: old[position...])
        )
    }

    /// Ends the part before the match at which the walk stopped, and starts the next one there.
    private mutating func endPart() -> Difference {
        var forward = agreeingForwards()
        var backward = scan < new.count ? agreeingBackwards() : 0
        let overlap = partStart.new + forward - (scan - backward)
        if overlap > 0 {
            let kept = bestSplit(ofOverlap: overlap, forward: forward, backward: backward)
            forward += kept - overlap
            backward -= kept
        }
        let difference = Difference(
            newStart: partStart.new,
            oldStart: partStart.old,
            similar: forward,
            unlike: scan - backward - (partStart.new + forward)
        )
        partStart = (scan - backward, match.position - backward)
        alignment = match.position - scan
        return difference
    }

    /// The number of bytes from the part's start that belong to it: the length with the best balance of agreeing bytes
    /// over others.
    private func agreeingForwards() -> Int {
        let limit = min(scan - partStart.new, old.count - partStart.old)
        var agreement = Agreement()
        for index in 0..<max(0, limit) {
            agreement.count(old[partStart.old + index] == new[partStart.new + index])
        }
        return agreement.bestLength
    }

    /// The number of bytes before the match that belong to it.
    private func agreeingBackwards() -> Int {
        let limit = min(scan - partStart.new, match.position)
        var agreement = Agreement()
        for index in 0..<max(0, limit) {
            agreement.count(old[match.position - 1 - index] == new[scan - 1 - index])
        }
        return agreement.bestLength
    }

    /// The number of bytes of the overlap that the earlier part should take, since it predicts them better than the
    /// later one.
    private func bestSplit(ofOverlap overlap: Int, forward: Int, backward: Int) -> Int {
        let (newStart, earlier) = (partStart.new + forward - overlap, partStart.old + forward - overlap)
        let later = match.position - backward
        var (lead, best, split) = (0, 0, 0)
        for index in 0..<overlap {
            if old[earlier + index] == new[newStart + index] { lead += 1 }
            if old[later + index] == new[newStart + index] { lead -= 1 }
            if lead > best { (best, split) = (lead, index + 1) }
        }
        return split
    }

    /// Finds the length at which the agreeing bytes outnumber the others by most.
    private struct Agreement {
        private(set) var bestLength = 0
        private var length = 0
        private var lead = 0
        private var bestLead = 0

        mutating func count(_ agrees: Bool) {
            length += 1
            lead += agrees ? 1 : -1
            if lead > bestLead { (bestLead, bestLength) = (lead, length) }
        }
    }
}

/// A part of the new bytes, described by old bytes.
///
/// The part starts with bytes that are similar to the old ones from `oldStart` on, and ends with bytes that are not.
struct Difference: Equatable {
    /// The start of the part in the new bytes.
    var newStart: Int
    /// The start of the similar bytes in the old bytes.
    var oldStart: Int
    /// The number of similar bytes.
    var similar: Int
    /// The number of bytes after them that are not similar to any old bytes.
    var unlike: Int
}
