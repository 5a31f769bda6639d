/// The three streams of a BSDIFF40 patch before bzip2.
///
/// In a compressed patch, bzip2's checksums would stop nearly all damage.
///
/// An input has the lengths of the control and the diff stream in two bytes each, the new size in eight bytes, and then
/// the streams. A new size of `UInt64.max` stands for the size that the instructions give.
struct PatchStreams {
    static let headLength = 12
    static let instructionLength = 24

    var control: [UInt8]
    var diff: [UInt8]
    var extra: [UInt8]
    var statedSize: UInt64

    /// Splits an input into its parts; false lengths only divide the existing bytes differently.
    init?(input: [UInt8]) {
        guard let controlLength = input.number(at: 0, 2), let diffLength = input.number(at: 2, 2),
            let size = input.number(at: 4, 8)
        else { return nil }
        let streams = input.dropFirst(Self.headLength)
        control = Array(streams.prefix(Int(controlLength)))
        diff = Array(streams.dropFirst(control.count).prefix(Int(diffLength)))
        extra = Array(streams.dropFirst(control.count + diff.count))
        statedSize = size
    }

    /// Splits a valid patch into its streams.
    init?(patch: [UInt8]) {
        guard let controlLength = patch.number(at: 8, 8).flatMap({ Int(exactly: $0) }),
            let diffLength = patch.number(at: 16, 8).flatMap({ Int(exactly: $0) }),
            let control = patch.part(32, controlLength), let diff = patch.part(32 + controlLength, diffLength)
        else { return nil }
        self.control = Bzip2.decompressed(control)
        self.diff = Bzip2.decompressed(diff)
        extra = Bzip2.decompressed(Array(patch[(32 + controlLength + diffLength)...]))
        statedSize = .max
    }

    var input: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(control.count, 2)
        bytes.append(diff.count, 2)
        bytes.append(statedSize, 8)
        return bytes + control + diff + extra
    }

    /// The patch, with valid blocks and lengths.
    var patch: [UInt8] {
        let blocks = [control, diff, extra].map(Bzip2.compressed)
        var bytes = Array("BSDIFF40".utf8)
        bytes.append(blocks[0].count, 8)
        bytes.append(blocks[1].count, 8)
        bytes.append(newSize, 8)
        return bytes + blocks[0] + blocks[1] + blocks[2]
    }

    var newSize: UInt64 {
        guard statedSize == .max else { return statedSize }
        return instructions.reduce(0) {
            $0 &+ UInt64(bitPattern: Int64($1.added)) &+ UInt64(bitPattern: Int64($1.extra))
        }
    }

    /// The three numbers of each instruction: how many bytes to add, how many to take, how far to move.
    var instructions: [(added: Int, extra: Int, seek: Int)] {
        stride(from: 0, through: control.count - Self.instructionLength, by: Self.instructionLength).map { start in
            (signed(at: start), signed(at: start + 8), signed(at: start + 16))
        }
    }

    private func signed(at place: Int) -> Int {
        let bits = control.number(at: place, 8) ?? 0
        let magnitude = Int(bits & ~(1 << 63))
        return bits >> 63 == 0 ? magnitude : -magnitude
    }

    /// The result of the original `bspatch` for the streams; nil when it would find them damaged.
    func applied(to old: [UInt8], limit: Int) -> [UInt8]? {
        // The highest bit is a sign, so minus zero is also zero.
        let magnitude = Int(newSize & ~(1 << 63))
        guard newSize >> 63 == 0 || magnitude == 0, magnitude <= limit else { return nil }
        let size = magnitude
        var new: [UInt8] = []
        var (diffAt, extraAt, oldAt) = (0, 0, 0)
        for instruction in instructions where new.count < size {
            guard (0...size - new.count).contains(instruction.added),
                (0...size - new.count - instruction.added).contains(instruction.extra),
                let added = diff.part(diffAt, instruction.added), let taken = extra.part(extraAt, instruction.extra)
            else { return nil }
            for (index, byte) in added.enumerated() {
                let (place, isBeyond) = oldAt.addingReportingOverflow(index)
                new.append(!isBeyond && old.indices.contains(place) ? byte &+ old[place] : byte)
            }
            new += taken
            diffAt += added.count
            extraAt += taken.count
            let (behind, first) = oldAt.addingReportingOverflow(added.count)
            let (moved, second) = behind.addingReportingOverflow(instruction.seek)
            guard !first, !second else { return nil }
            oldAt = moved
        }
        return new.count == size ? new : nil
    }

    /// Damages an instruction, the new size or the sequence of the instructions.
    mutating func damage(using random: inout SeededGenerator) {
        let count = control.count / Self.instructionLength
        guard count > 0 else { return control += [UInt8](repeating: 0, count: Self.instructionLength) }
        let start = Int.random(in: 0..<count, using: &random) * Self.instructionLength
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1, 2:
            let place = start + 8 * Int.random(in: 0..<3, using: &random)
            control.put(Edge.number(near: control.number(at: place, 8) ?? 0, using: &random), at: place, 8)
        case 3: control.insert(contentsOf: control[start..<start + Self.instructionLength], at: start)
        case 4: control.removeSubrange(start..<start + Self.instructionLength)
        default: statedSize = statedSize == .max ? Edge.number(near: newSize, using: &random) : .max
        }
    }
}
