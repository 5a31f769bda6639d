import WaystationFileSystem

extension ByteSource {
    /// Fills the whole buffer from inside the source's length; `name` names the source in errors.
    ///
    /// - Throws: ``PatchError`` with `unreadable` when reading fails or the source has become shorter.
    func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int, of name: String) throws(PatchError) {
        let count: Int
        do {
            count = try read(at: offset, into: buffer)
        } catch {
            throw PatchError(.unreadable, "the \(name) bytes cannot be read at \(offset)", cause: error)
        }
        guard count == buffer.count else {
            throw PatchError(
                .unreadable,
                "the \(name) bytes end at \(offset + count) instead of \(length): they changed while they were read"
            )
        }
    }
}
