/// Receives the bytes of one file as they are extracted, to digest them without reading the file again.
///
/// An observer is made, called and released on one thread.
package protocol EntryObserver {
    /// Takes the next bytes, which are valid only during the call.
    mutating func receive(_ bytes: UnsafeRawBufferPointer)
    /// Called when the file is complete and its CRC-32 is right; an error fails the extraction.
    mutating func finish() throws
}
