import Foundation
import WaystationPacks
import WaystationStorage

/// Applies a patch, and compares the result with that of the original `bspatch`.
///
/// The first byte of an input says what its last part is: a complete patch, or the streams before bzip2. Between them
/// are the length of the old bytes, in two bytes, and the old bytes.
struct PatchTarget: FuzzTarget {
    static let headLength = 3

    let maximumLength = 4 << 10
    private let limit = 256 << 10

    func seeds() throws -> [Data] {
        let text = Array(String(repeating: "some old text; ", count: 40).utf8)
        var other = text
        other.replaceSubrange(100..<130, with: Array("something that is new".utf8))
        other += Array("and an end".utf8)
        var seeds: [Data] = []
        for (old, new) in [(text, other), (other, text), ([], text), (text, []), (text, text + text)] {
            let patch = [UInt8](try BSDiffPatch.create(from: DataSource(Data(old)), to: DataSource(Data(new))))
            guard let streams = PatchStreams(patch: patch) else { throw Finding("a seed cannot be split") }
            for (isTakenApart, rest) in [(UInt8(0), patch), (1, streams.input)] {
                var seed = [isTakenApart]
                seed.append(old.count, 2)
                seeds.append(Data(seed + old + rest))
            }
        }
        return seeds
    }

    func mutated(_ input: [UInt8], using random: inout SeededGenerator) -> [UInt8]? {
        guard let (old, rest) = Self.split(input), input[0] & 1 == 1, var streams = PatchStreams(input: rest) else {
            return nil
        }
        streams.damage(using: &random)
        return Array(input[..<(Self.headLength + old.count)]) + streams.input
    }

    func run(_ input: Data) throws {
        let input = [UInt8](input)
        guard let (old, rest) = Self.split(input) else { return }
        let streams = input[0] & 1 == 1 ? PatchStreams(input: rest) : nil
        let bytes = streams?.patch ?? rest
        do {
            let patch = try BSDiffPatch(DataSource(Data(bytes)), limits: PatchLimits(newSize: limit))
            try Finding.unless((0...limit).contains(patch.newSize), "a new size of \(patch.newSize) was accepted")
            var new: [UInt8] = []
            try patch.apply(to: DataSource(Data(old))) { piece in
                try Finding.unless(piece.count <= 256 << 10, "a piece of \(piece.count) bytes")
                new += piece
                try Finding.unless(new.count <= patch.newSize, "the patch gives more bytes than its new size")
            }
            try Finding.unless(new.count == patch.newSize, "the patch gives fewer bytes than its new size")
            if let streams {
                try Finding.unless(new == streams.applied(to: old, limit: limit), "bspatch gives a different result")
            }
        } catch is PatchError {}
    }

    private static func split(_ input: [UInt8]) -> (old: [UInt8], rest: [UInt8])? {
        guard let length = input.number(at: 1, 2) else { return nil }
        let old = Array(input[headLength...].prefix(Int(length)))
        return (old, Array(input[(headLength + old.count)...]))
    }
}
