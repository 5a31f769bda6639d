/// An entry as a writer describes it, in its local header and in the directory.
///
/// The attributes are the same for all: made on Unix, files 0644 and directories 0755, names in UTF-8.
struct WrittenEntry {
    /// The name's bytes; a directory's name ends in a slash.
    let name: [UInt8]
    let isDirectory: Bool
    let method: ZipMethod
    let modified: ZipTime
    let crc32: UInt32
    let size: Int
    let compressedSize: Int
    let offset: Int
    /// The value from which numbers are written with 64 bits; only tests use another than the format's own.
    let wideBound: Int

    private static let localSignature: UInt32 = 0x0403_4B50
    private static let centralSignature: UInt32 = 0x0201_4B50
    private static let unix: UInt16 = 3 << 8
    private static let deflateVersion: UInt16 = 20
    static let zip64Version: UInt16 = 45

    /// The header before the data (APPNOTE 4.3.7).
    var localHeader: [UInt8] {
        // In a local header, the zip64 field has both sizes or is absent.
        let isWide = size >= wideBound || compressedSize >= wideBound
        var extra: [UInt8] = []
        if isWide { extra = Self.zip64Field([size, compressedSize]) }
        var header: [UInt8] = []
        header.append(littleEndian: Self.localSignature)
        header.append(littleEndian: isWide ? Self.zip64Version : Self.deflateVersion)
        appendCommonFields(to: &header)
        header.append(littleEndian: isWide ? UInt32.max : UInt32(clamping: compressedSize))
        header.append(littleEndian: isWide ? UInt32.max : UInt32(clamping: size))
        header.append(littleEndian: UInt16(clamping: name.count))
        header.append(littleEndian: UInt16(clamping: extra.count))
        return header + name + extra
    }

    /// The header in the directory (APPNOTE 4.3.12).
    var centralHeader: [UInt8] {
        let wide = [size, compressedSize, offset].filter { $0 >= wideBound }
        let extra = wide.isEmpty ? [] : Self.zip64Field(wide)
        let version = wide.isEmpty ? Self.deflateVersion : Self.zip64Version
        func narrow(_ number: Int) -> UInt32 { number >= wideBound ? UInt32.max : UInt32(clamping: number) }
        var header: [UInt8] = []
        header.append(littleEndian: Self.centralSignature)
        header.append(littleEndian: Self.unix | version)
        header.append(littleEndian: version)
        appendCommonFields(to: &header)
        header.append(littleEndian: narrow(compressedSize))
        header.append(littleEndian: narrow(size))
        header.append(littleEndian: UInt16(clamping: name.count))
        header.append(littleEndian: UInt16(clamping: extra.count))
        header.append(littleEndian: UInt16(0))  // comment
        header.append(littleEndian: UInt16(0))  // disk
        header.append(littleEndian: UInt16(0))  // internal attributes
        header.append(littleEndian: isDirectory ? UInt32(0o040_755) << 16 | 0x10 : UInt32(0o100_644) << 16)
        header.append(littleEndian: narrow(offset))
        return header + name + extra
    }

    private func appendCommonFields(to header: inout [UInt8]) {
        header.append(littleEndian: EntryFlags.utf8.rawValue)
        header.append(littleEndian: method.rawValue)
        // The time comes before the date.
        header.append(littleEndian: modified.packed)
        header.append(littleEndian: crc32)
    }

    private static func zip64Field(_ numbers: [Int]) -> [UInt8] {
        var field: [UInt8] = []
        field.append(littleEndian: ExtraFields.Identifier.zip64.rawValue)
        field.append(littleEndian: UInt16(numbers.count * 8))
        for number in numbers { field.append(littleEndian: UInt64(number)) }
        return field
    }
}
