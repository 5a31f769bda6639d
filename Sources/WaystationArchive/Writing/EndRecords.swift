/// The records after the directory (APPNOTE 4.3.14 to 4.3.16); those of zip64 only when they are needed.
struct EndRecords {
    let entryCount: Int
    let directorySize: Int
    let directoryOffset: Int
    /// The value from which sizes are written with 64 bits; only tests use another than the format's own.
    let wideBound: Int

    var bytes: [UInt8] {
        let isWide =
            entryCount >= Int(UInt16.max) || directorySize >= wideBound || directoryOffset >= wideBound
        var bytes = isWide ? wideRecords : []
        func narrow(_ number: Int) -> UInt32 { number >= wideBound ? UInt32.max : UInt32(clamping: number) }
        bytes.append(littleEndian: UInt32(0x0605_4B50))
        bytes.append(littleEndian: UInt32(0))  // this disk, and the directory's
        bytes.append(littleEndian: UInt16(clamping: entryCount))
        bytes.append(littleEndian: UInt16(clamping: entryCount))
        bytes.append(littleEndian: narrow(directorySize))
        bytes.append(littleEndian: narrow(directoryOffset))
        bytes.append(littleEndian: UInt16(0))  // comment
        return bytes
    }

    private var wideRecords: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt32(0x0606_4B50))
        bytes.append(littleEndian: UInt64(44))  // the length of the rest of this record
        bytes.append(littleEndian: 3 << 8 | WrittenEntry.zip64Version)
        bytes.append(littleEndian: WrittenEntry.zip64Version)
        bytes.append(littleEndian: UInt64(0))  // this disk, and the directory's
        bytes.append(littleEndian: UInt64(entryCount))
        bytes.append(littleEndian: UInt64(entryCount))
        bytes.append(littleEndian: UInt64(directorySize))
        bytes.append(littleEndian: UInt64(directoryOffset))

        bytes.append(littleEndian: UInt32(0x0706_4B50))
        bytes.append(littleEndian: UInt32(0))  // the disk of the record above
        bytes.append(littleEndian: UInt64(directoryOffset + directorySize))
        bytes.append(littleEndian: UInt32(1))  // disks
        return bytes
    }
}
