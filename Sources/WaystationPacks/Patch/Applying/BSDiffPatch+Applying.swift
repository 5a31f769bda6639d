public import WaystationStorage

extension BSDiffPatch {
    /// The digests that the bytes before and after a patch must have.
    public struct Expectation: Hashable, Sendable {
        /// The digest of the old bytes; nil, the default, skips the check.
        public var old: PatchDigest?
        /// The digest of the new bytes; nil, the default, leaves the check to the caller.
        ///
        /// BSDIFF40 itself has no digest: with wrong old bytes, a patch makes wrong new bytes without an error.
        public var new: PatchDigest?

        /// Makes an expectation; nothing is checked by default.
        public init(old: PatchDigest? = nil, new: PatchDigest? = nil) {
            self.old = old
            self.new = new
        }
    }

    /// Makes the new bytes from the old ones and the patch.
    ///
    /// The old digest is checked before anything is written, the new one at the end. So do not use the written bytes
    /// before this function has returned without an error.
    ///
    /// Memory use does not depend on the size of the files: about 11 MiB for three bzip2 decoders (900 kB blocks) and
    /// 0.5 MiB of buffers. The work is done on the calling thread. When the calling task is cancelled, it stops within
    /// about a millisecond of computing, even while no new bytes are made. It also stops when `write` throws, which is
    /// called at least once for each 256 KiB of new bytes.
    ///
    /// - Parameters:
    ///   - old: The old bytes; they are read in pieces, mostly forwards.
    ///   - expectation: The digests to check; none by default.
    ///   - write: Receives the next new bytes, which are valid only during the call. All calls together receive
    ///     exactly ``newSize`` bytes.
    /// - Throws: ``PatchError`` for any error in the patch or the old bytes; `CancellationError`; the errors of
    ///   `write`.
    public func apply(
        to old: any ByteSource,
        expecting expectation: Expectation = Expectation(),
        write: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if let expected = expectation.old {
            let found = try Self.digest(of: old, like: expected)
            guard found == expected else {
                throw PatchError(
                    .wrongOld,
                    "the old bytes are \(found), but the patch is for \(expected): fetch the whole new file"
                )
            }
        }
        var hasher = expectation.new.map(PatchDigest.Hasher.init(like:))
        var application = try PatchApplication(of: self, to: old)
        try application.run { bytes in
            hasher?.update(bytes)
            try write(bytes)
        }
        if let expected = expectation.new, let found = hasher?.finalize(), found != expected {
            throw PatchError(
                .wrongNew,
                "the new bytes are \(found) instead of \(expected): the patch or the old bytes are wrong; "
                    + "fetch the whole new file"
            )
        }
    }

    private static func digest(of old: any ByteSource, like expected: PatchDigest) throws -> PatchDigest {
        var hasher = PatchDigest.Hasher(like: expected)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var offset = 0
        while offset < old.length {
            try Task.checkCancellation()
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(old.length - offset))
            try old.fill(piece, at: offset, of: "old")
            hasher.update(UnsafeRawBufferPointer(piece))
            offset += piece.count
        }
        return hasher.finalize()
    }
}
