/// Tells new bytes by old ones, as Percival's "Naive Differences of Executable Code" (2003) describes.
///
/// The scanner walks over the new bytes and looks for the longest exact match in the old ones at each. While the match it
/// is on (its *alignment*) predicts the bytes ahead about as well, it goes on: a few wrong bytes are cheap, since their
/// differences compress well. A match that is better by more than ``advantage`` starts a new part. The bytes between two
/// parts are then given to the one before as long as most of them agree, and to the one after likewise.
struct DifferenceScanner: ~Copyable {
    /// How many more bytes a match must predict to be worth an instruction of its own.
    private static let advantage = 8
    /// A match of this many bytes is as good as any longer one.
    ///
    /// Comparing further at each of a million equal bytes would take time that grows with their square.
    private static let reach = 4 << 10

    private let old: UnsafeBufferPointer<UInt8>
    private let new: UnsafeBufferPointer<UInt8>
    private let suffixes: SuffixArray

    /// How far the walk has come.
    private var scan = 0
    /// The last match: where in the old bytes, and how long.
    private var match = (position: 0, length: 0)
    /// Where the part begins that is not told yet, in the new bytes and in the old.
    private var partStart = (new: 0, old: 0)
    /// The old position less the new one, along the part that is not told yet.
    private var alignment = 0
    /// An exact match longer than the reach: its alignment, and where in the new bytes it ends.
    private var longMatch = (alignment: 0, end: 0)

    /// Both must stay in place as long as this value does.
    ///
    /// - Throws: ``PatchError`` with `tooLarge` when the old bytes are too many to be sorted.
    init(old: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer) throws(PatchError) {
        self.old = old.bindMemory(to: UInt8.self)
        self.new = new.bindMemory(to: UInt8.self)
        suffixes = try SuffixArray(old)
    }

    /// The next part of the new bytes; nil after the last.
    mutating func next() -> Difference? {
        while scan < new.count {
            scan += match.length
            let predicted = walk()
            if match.length != predicted || scan == new.count { return endPart() }
        }
        return nil
    }

    /// Walks to the next match that is worth a stop; returns how many of its bytes the alignment predicts.
    private mutating func walk() -> Int {
        var predicted = 0
        // `predicted` counts the bytes in scan..<counted.
        var counted = scan
        while scan < new.count {
            // So much is right that nothing better need be looked for before it ends.
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

    /// Ends the part before the match that the walk stopped at, and begins the next one there.
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

    /// How many bytes from the part's beginning on to give to it, so that the most of them agree and the fewest do not.
    private func agreeingForwards() -> Int {
        let limit = min(scan - partStart.new, old.count - partStart.old)
        var agreement = Agreement()
        for index in 0..<max(0, limit) {
            agreement.count(old[partStart.old + index] == new[partStart.new + index])
        }
        return agreement.bestLength
    }

    /// How many bytes before the match to give to it.
    private func agreeingBackwards() -> Int {
        let limit = min(scan - partStart.new, match.position)
        var agreement = Agreement()
        for index in 0..<max(0, limit) {
            agreement.count(old[match.position - 1 - index] == new[scan - 1 - index])
        }
        return agreement.bestLength
    }

    /// How many of the bytes that both sides claim the earlier one predicts better than the later one.
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

    /// The length with the greatest lead of agreeing bytes over others.
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
