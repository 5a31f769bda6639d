/// The numbers of a header that may be too large for it, and are then in its zip64 field (APPNOTE 4.5.3).
struct Zip64Numbers {
    /// The 32-bit number in a header that means that the real number is in the zip64 field.
    static let placeholder = UInt32.max
    static let diskPlaceholder = UInt16.max

    var size: UInt64
    var compressedSize: UInt64
    var offset: UInt64
    var disk: UInt32

    /// Reads the numbers of a directory header, and takes those that the header has no room for from its zip64 field.
    ///
    /// By the specification, the zip64 field has only the numbers that do not fit into the header, in this order. Go's
    /// `archive/zip` and others write all numbers into it as soon as one needs it. Such a field is accepted when every
    /// reader interprets it in the same way: the numbers that are needed come first in it, and the others equal those
    /// of the header. Others write the field, often empty, where no number needs it; readers ignore it.
    init(
        size: UInt32,
        compressedSize: UInt32,
        offset: UInt32,
        disk: UInt16,
        extra: ExtraFields,
        entry: String
    ) throws(ZipError) {
        var numbers = [UInt64(size), UInt64(compressedSize), UInt64(offset), UInt64(disk)]
        let isWide = [size, compressedSize, offset].map { $0 == Self.placeholder } + [disk == Self.diskPlaceholder]
        let needed = numbers.indices.filter { isWide[$0] }
        if let field = extra[.zip64], needed.isEmpty {
            guard Self.repeats(numbers, field) else {
                throw Self.invalid(entry, "has a zip64 field that contradicts its header")
            }
        } else if let field = extra[.zip64] {
            let beginnings = (1...numbers.count).map { Array(0..<$0) }.filter { $0.starts(with: needed) }
            guard let listed = ([needed] + beginnings).first(where: { Self.length(of: $0) == field.count }) else {
                throw Self.invalid(
                    entry,
                    "has a zip64 field of \(field.count) bytes where \(Self.length(of: needed)) are needed"
                )
            }
            var rest = field
            for index in listed {
                let number = index == 3 ? UInt64(rest.field(0, as: UInt32.self)) : rest.field(0, as: UInt64.self)
                guard isWide[index] || number == numbers[index] else {
                    throw Self.invalid(entry, "has a zip64 field that contradicts its header")
                }
                numbers[index] = number
                rest = rest.dropFirst(Self.length(of: [index]))
            }
        } else if !needed.isEmpty {
            throw Self.invalid(entry, "has no zip64 field and needs one")
        }
        (self.size, self.compressedSize, self.offset) = (numbers[0], numbers[1], numbers[2])
        self.disk = UInt32(truncatingIfNeeded: numbers[3])
    }

    /// Whether a field that no number needs has only numbers that the header has too, or zeros, which stand for numbers
    /// that are not known yet.
    private static func repeats(_ numbers: [UInt64], _ field: ArraySlice<UInt8>) -> Bool {
        numbers.indices.allSatisfy { index in
            let (start, length) = (index * 8, index == 3 ? 4 : 8)
            guard field.count >= start + length else { return true }
            let number = index == 3 ? UInt64(field.field(start, as: UInt32.self)) : field.field(start, as: UInt64.self)
            return number == numbers[index] || number == 0
        }
    }

    /// The length of numbers in a field, in bytes; the fourth number is the disk.
    private static func length(of numbers: [Int]) -> Int {
        numbers.reduce(0) { $0 + ($1 == 3 ? 4 : 8) }
    }

    /// The sizes of a local header.
    ///
    /// Its zip64 field has both sizes as soon as one of them needs it.
    ///
    /// The `offset` and a disk may follow, since some writers use one field for both headers.
    static func localSizes(
        size: UInt32,
        compressedSize: UInt32,
        offset: Int,
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
        guard isWide.size || isWide.compressedSize else {
            guard repeats([UInt64(size), UInt64(compressedSize), UInt64(offset), 0], field) else {
                throw invalid(entry, "has a zip64 field that contradicts its local header")
            }
            return (UInt64(size), UInt64(compressedSize))
        }
        guard [16, 24, 28].contains(field.count) else {
            throw invalid(entry, "has a zip64 field of \(field.count) bytes in its local header where 16 are needed")
        }
        let wide = (size: field.field(0, as: UInt64.self), compressedSize: field.field(8, as: UInt64.self))
        // A number that has room in the header must be the same in the field; zero means that it was not yet known.
        guard isWide.size || wide.size == UInt64(size) || wide.size == 0,
            isWide.compressedSize || wide.compressedSize == UInt64(compressedSize) || wide.compressedSize == 0,
            field.count == 16 || [0, UInt64(offset)].contains(field.field(16, as: UInt64.self)),
            field.count < 28 || field.field(24, as: UInt32.self) == 0
        else { throw invalid(entry, "has a zip64 field that contradicts its local header") }
        return (
            isWide.size ? wide.size : UInt64(size),
            isWide.compressedSize ? wide.compressedSize : UInt64(compressedSize)
        )
    }

    private static func invalid(_ entry: String, _ problem: String) -> ZipError {
        ZipError(.invalidZip64, entry: entry, "\(problem); fetch or create the archive again")
    }
}
