/// The numbers behind an entry's data that its local header left open (APPNOTE 4.3.9).
///
/// Writers agree neither on the signature ahead of it nor on when its sizes have 64 bits, so all four forms are tried.
enum DataDescriptor {
    private static let signature: UInt32 = 0x0807_4B50

    /// Reads the descriptor at the reader's position, and leaves the reader behind it.
    ///
    /// - Throws: ``ZipError`` when there is none in any form that says what the directory says, or what the source throws.
    static func check(from reader: inout SourceReader, describing central: CentralHeader) throws {
        let start = reader.position
        // The longest first: of numbers that are all zero, the short form is the beginning of the long one.
        for (isSigned, isWide) in [(true, true), (false, true), (true, false), (false, false)] {
            reader.seek(to: start)
            guard let bytes = try reader.next((isSigned ? 4 : 0) + (isWide ? 20 : 12)) else { continue }
            if isSigned, bytes.field(0, as: UInt32.self) != signature { continue }
            let numbers = bytes.dropFirst(isSigned ? 4 : 0)
            let crc32 = numbers.field(0, as: UInt32.self)
            let compressedSize =
                isWide ? numbers.field(4, as: UInt64.self) : UInt64(numbers.field(4, as: UInt32.self))
            let size = isWide ? numbers.field(12, as: UInt64.self) : UInt64(numbers.field(8, as: UInt32.self))
            if crc32 == central.crc32, compressedSize == UInt64(central.compressedSize),
                size == UInt64(central.statedSize)
            {
                return
            }
        }
        throw ZipError(
            .descriptorMismatch,
            entry: central.path.path,
            "has no descriptor behind its data that says what the directory says; fetch or make the archive anew"
        )
    }
}
