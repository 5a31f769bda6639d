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
