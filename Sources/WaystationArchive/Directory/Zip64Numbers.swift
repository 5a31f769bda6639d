/// The numbers of a header that may be too large for it, and then stand in its zip64 field (APPNOTE 4.5.3).
struct Zip64Numbers {
    /// What a 32-bit number says when the true one stands in the field.
    static let placeholder = UInt32.max
    static let diskPlaceholder = UInt16.max

    var size: UInt64
    var compressedSize: UInt64
    var offset: UInt64
    var disk: UInt32

    /// The numbers of a directory header: the field has those, and only those, that the header has no room for, in order.
    init(
        size: UInt32,
        compressedSize: UInt32,
        offset: UInt32,
        disk: UInt16,
        extra: ExtraFields,
        entry: String
    ) throws(ZipError) {
        (self.size, self.compressedSize) = (UInt64(size), UInt64(compressedSize))
        (self.offset, self.disk) = (UInt64(offset), UInt32(disk))
        let wide = [size, compressedSize, offset].count { $0 == Self.placeholder }
        let needed = wide * 8 + (disk == Self.diskPlaceholder ? 4 : 0)
        guard let field = extra[.zip64] else {
            guard needed == 0 else { throw Self.invalid(entry, "has no zip64 field and needs one") }
            return
        }
        guard field.count == needed else {
            throw Self.invalid(entry, "has a zip64 field of \(field.count) bytes where \(needed) are needed")
        }
        var rest = field
        func next(_ number: inout UInt64) {
            number = rest.field(0, as: UInt64.self)
            rest = rest.dropFirst(8)
        }
        if size == Self.placeholder { next(&self.size) }
        if compressedSize == Self.placeholder { next(&self.compressedSize) }
        if offset == Self.placeholder { next(&self.offset) }
        if disk == Self.diskPlaceholder { self.disk = rest.field(0, as: UInt32.self) }
    }

    /// The sizes of a local header, where both stand in the field as soon as one of them has to.
    static func localSizes(
        size: UInt32,
        compressedSize: UInt32,
        extra: ExtraFields,
        entry: String
    ) throws(ZipError) -> (size: UInt64, compressedSize: UInt64) {
        let isWide = (size: size == placeholder, compressedSize: compressedSize == placeholder)
        guard let field = extra[.zip64] else {
            guard !isWide.size, !isWide.compressedSize else {
                throw invalid(entry, "has no zip64 field in its local header and needs one")
            }
            return (UInt64(size), UInt64(compressedSize))
        }
        guard field.count == 16 else {
            throw invalid(entry, "has a zip64 field of \(field.count) bytes in its local header where 16 are needed")
        }
        let wide = (size: field.field(0, as: UInt64.self), compressedSize: field.field(8, as: UInt64.self))
        // A number that had room in the header must not be another one in the field; zero is one not yet known.
        guard isWide.size || wide.size == UInt64(size) || wide.size == 0,
            isWide.compressedSize || wide.compressedSize == UInt64(compressedSize) || wide.compressedSize == 0
        else { throw invalid(entry, "has a zip64 field that contradicts its local header") }
        return (
            isWide.size ? wide.size : UInt64(size),
            isWide.compressedSize ? wide.compressedSize : UInt64(compressedSize)
        )
    }

    private static func invalid(_ entry: String, _ problem: String) -> ZipError {
        ZipError(.invalidZip64, entry: entry, "\(problem); fetch or make the archive anew")
    }
}
