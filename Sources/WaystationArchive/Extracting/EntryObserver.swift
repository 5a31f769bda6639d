/// Sees the bytes of one file as they are extracted, to digest them without reading the file again.
///
/// Made, called and let go on one thread.
package protocol EntryObserver {
    /// Takes the next bytes, which are lent for the length of the call.
    mutating func receive(_ bytes: UnsafeRawBufferPointer)
    /// Is told that the file is complete and that its CRC-32 is right; throwing fails the extraction.
    mutating func finish() throws
}
