import Foundation

/// The 32-byte header of a BSDIFF40 patch.
///
/// ```
/// 42 53 44 49 46 46 34 30   "BSDIFF40"
/// 2b 00 00 00 00 00 00 00   bytes of the control block, compressed
/// 27 00 00 00 00 00 00 00   bytes of the diff block, compressed
/// 10 27 00 00 00 00 00 00   bytes of the new file
/// ```
/// The control, diff and extra blocks follow, each one bzip2 stream; the extra block takes all remaining bytes.
struct PatchHeader {
    static let byteCount = 32
    private static let magic = Data("BSDIFF40".utf8)

    let control: Range<Int>
    let diff: Range<Int>
    let extra: Range<Int>
    let newSize: Int

    init(_ bytes: Data, patchLength: Int, limits: PatchLimits) throws(PatchError) {
        guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic) else {
            throw PatchError(
                .notAPatch,
                "the \(patchLength) bytes do not begin with the 32-byte header of BSDIFF40: "
                    + "check that the download is a complete patch, and not an error page"
            )
        }
        let (controlLength, diffLength, newSize) = bytes.withUnsafeBytes { bytes in
            (
                SignedMagnitude.decode(bytes, at: 8), SignedMagnitude.decode(bytes, at: 16),
                SignedMagnitude.decode(bytes, at: 24)
            )
        }
        // The lengths may be any numbers, so they are compared with the remaining size rather than added.
        let blocks = patchLength - Self.byteCount
        guard (0...blocks).contains(controlLength), (0...blocks - controlLength).contains(diffLength) else {
            throw PatchError(
                .badHeader,
                "a control block of \(controlLength) bytes and a diff block of \(diffLength) do not fit into "
                    + "the \(blocks) bytes after the header: the patch is incomplete or damaged"
            )
        }
        guard newSize >= 0 else {
            throw PatchError(.badHeader, "the new size is negative (\(newSize)): the patch is damaged")
        }
        guard newSize <= limits.newSize else {
            throw PatchError(
                .tooLarge,
                "the new size of \(newSize) bytes is above the limit of \(limits.newSize): "
                    + "raise PatchLimits.newSize if that is intended"
            )
        }
        control = Self.byteCount..<Self.byteCount + controlLength
        diff = control.upperBound..<control.upperBound + diffLength
        extra = diff.upperBound..<patchLength
        self.newSize = newSize
    }

    static func encode(controlLength: Int, diffLength: Int, newSize: Int) -> Data {
        var bytes = magic + Data(count: byteCount - magic.count)
        bytes.withUnsafeMutableBytes { bytes in
            SignedMagnitude.encode(controlLength, into: bytes, at: 8)
            SignedMagnitude.encode(diffLength, into: bytes, at: 16)
            SignedMagnitude.encode(newSize, into: bytes, at: 24)
        }
        return bytes
    }
}

/// One step of a patch: add old bytes to diff bytes, copy extra bytes, move the position in the old bytes.
struct PatchInstruction: Equatable {
    static let byteCount = 3 * SignedMagnitude.byteCount

    /// The number of diff bytes to add to as many old bytes.
    var added: Int
    /// The number of extra bytes to copy.
    var extra: Int
    /// The distance to move in the old bytes, after the added ones.
    var seek: Int

    init(added: Int, extra: Int, seek: Int) {
        self.added = added
        self.extra = extra
        self.seek = seek
    }

    init(_ bytes: UnsafeRawBufferPointer) {
        added = SignedMagnitude.decode(bytes, at: 0)
        extra = SignedMagnitude.decode(bytes, at: SignedMagnitude.byteCount)
        seek = SignedMagnitude.decode(bytes, at: 2 * SignedMagnitude.byteCount)
    }

    func encode(into bytes: UnsafeMutableRawBufferPointer) {
        SignedMagnitude.encode(added, into: bytes, at: 0)
        SignedMagnitude.encode(extra, into: bytes, at: SignedMagnitude.byteCount)
        SignedMagnitude.encode(seek, into: bytes, at: 2 * SignedMagnitude.byteCount)
    }
}

/// The limits beyond which a patch is refused.
public struct PatchLimits: Hashable, Sendable {
    /// The maximum number of bytes that a patch may produce; 1 GiB by default.
    ///
    /// A patch of a few bytes can announce any size, and bzip2 can deliver it. This limits both the disk space and the
    /// time that applying takes.
    public var newSize: Int

    /// Makes limits; each has a default.
    public init(newSize: Int = 1 << 30) {
        self.newSize = newSize
    }
}

/// The 64-bit integers of BSDIFF40: little endian, the highest bit a sign, the other 63 the magnitude.
enum SignedMagnitude {
    static let byteCount = 8

    /// Decodes any bit pattern; minus zero is zero, and `Int.min` does not occur.
    static func decode(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        let bits = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let magnitude = Int(bits & ~(1 << 63))
        return bits >> 63 == 0 ? magnitude : -magnitude
    }

    static func encode(_ value: Int, into bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        let bits = UInt64(value.magnitude) | (value < 0 ? 1 << 63 : 0)
        bytes.storeBytes(of: bits.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
}
