/// The record after an entry's data with the numbers that its local header left open (APPNOTE 4.3.9).
///
/// Writers differ in whether they write a signature first and when they write sizes with 64 bits, so all four forms are
/// tried.
enum DataDescriptor {
    private static let signature: UInt32 = 0x0807_4B50

    /// Reads the descriptor at the reader's position, and leaves the reader after it, or where it was if there is none.
    ///
    /// - Throws: ``ZipError`` when the descriptor is required and no form of it agrees with the directory, or the
    ///   source's error.
    static func check(
        from reader: inout SourceReader,
        describing central: CentralHeader,
        isRequired: Bool
    ) throws {
        let start = reader.position
        // The longest form comes first: when all numbers are zero, the short form is the beginning of the long one.
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
        guard isRequired else { return reader.seek(to: start) }
        throw ZipError(
            .descriptorMismatch,
            entry: central.path.path,
            "has no descriptor after its data that agrees with the directory; fetch or create the archive again"
        )
    }
}
