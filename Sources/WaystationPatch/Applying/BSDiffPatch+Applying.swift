public import WaystationFileSystem

extension BSDiffPatch {
    /// What the bytes before and after a patch must be.
    public struct Expectation: Hashable, Sendable {
        /// The digest of the old bytes; nil (the default) trusts the caller to have the right ones.
        public var old: PatchDigest?
        /// The digest of the new bytes; nil (the default) leaves the check to the caller.
        ///
        /// BSDIFF40 itself has no digest: applied to wrong old bytes, a patch yields wrong new bytes and no error.
        public var new: PatchDigest?

        /// What is expected; nothing by default.
        public init(old: PatchDigest? = nil, new: PatchDigest? = nil) {
            self.old = old
            self.new = new
        }
    }

    /// Writes the new bytes, made from the old ones and the patch.
    ///
    /// The old digest is checked before anything is written, the new one after everything is. The bytes are
    /// worth nothing until this function has returned.
    ///
    /// Memory is flat: about 11 MiB for three bzip2 decoders (900 kB blocks) and 0.5 MiB of buffers, however large the
    /// files are. Works on the calling thread. When the calling task is cancelled, work stops within about a millisecond of
    /// computing, whether new bytes come out or not. Throwing from `write`, which is called at least once for each 256 KiB of
    /// new bytes, stops it too.
    ///
    /// - Parameters:
    ///   - old: The old bytes; they are read in place, in pieces, mostly forwards.
    ///   - expectation: Digests to check; none by default.
    ///   - write: Takes the next of the new bytes; they are valid during the call only. Together they are exactly
    ///     ``newSize`` bytes when this function returns.
    /// - Throws: ``PatchError`` for anything that is wrong with the patch or the old bytes; `CancellationError`; what
    ///   `write` throws, as it is.
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
                    "the old bytes are \(found) and the patch is for \(expected): fetch the whole new file"
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
                "the new bytes are \(found) instead of \(expected): the patch or the old bytes are not what they "
                    + "should be; fetch the whole new file"
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
