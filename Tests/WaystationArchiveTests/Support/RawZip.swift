import Foundation

@testable import WaystationArchive

/// A zip archive put together byte by byte, in which every value can be wrong.
///
/// Values that are not set are those of a sound archive.
struct RawZip {
    var leading: [UInt8] = []
    var entries: [RawEntry]
    /// Bytes between the last entry and the directory.
    var beforeDirectory: [UInt8] = []
    /// Bytes after the last header of the directory that count as part of the directory.
    var directoryTail: [UInt8] = []
    var zip64: Zip64?
    var end = End()
    var comment: [UInt8] = []
    var trailing: [UInt8] = []
    /// Whether offsets count from the start of the file instead of from the end of the leading bytes.
    var countsLeading = true
    /// Whether the directory has the entries in the reverse order.
    var isReversed = false

    init(_ entries: [RawEntry]) { self.entries = entries }

    /// Returns a changed copy of this archive.
    func with(_ change: (inout RawZip) -> Void) -> RawZip {
        var zip = self
        change(&zip)
        return zip
    }

    /// Numbers of the end record; `nil` stands for the correct one.
    struct End {
        var disk: UInt16 = 0
        var directoryDisk: UInt16 = 0
        var entriesOnDisk: UInt16?
        var entries: UInt16?
        var size: UInt32?
        var offset: UInt32?
        var commentLength: UInt16?
    }

    /// Numbers of the zip64 end record and its locator; `nil` stands for the correct one.
    struct Zip64 {
        var recordSignature: UInt32 = 0x0606_4B50
        var recordSize: UInt64 = 44
        var disk: UInt32 = 0
        var directoryDisk: UInt32 = 0
        var entriesOnDisk: UInt64?
        var entries: UInt64?
        var size: UInt64?
        var offset: UInt64?
        var locatorDisk: UInt32 = 0
        var locatorOffset: UInt64?
        var locatorDisks: UInt32 = 1
    }

    var data: Data {
        var bytes = leading
        let base = countsLeading ? 0 : leading.count
        var offsets: [UInt64] = []
        for entry in entries {
            bytes += entry.gap
            offsets.append(UInt64(bytes.count - base))
            bytes += entry.local
        }
        bytes += beforeDirectory
        let directoryOffset = bytes.count - base
        let listed = Array(zip(entries, offsets))
        for (entry, offset) in isReversed ? listed.reversed() : listed { bytes += entry.central(offset: offset) }
        bytes += directoryTail
        let directorySize = bytes.count - base - directoryOffset
        if let zip64 {
            let recordOffset = bytes.count - base
            bytes.append(littleEndian: zip64.recordSignature)
            bytes.append(littleEndian: zip64.recordSize)
            bytes.append(littleEndian: UInt16(3 << 8 | 45))
            bytes.append(littleEndian: UInt16(45))
            bytes.append(littleEndian: zip64.disk)
            bytes.append(littleEndian: zip64.directoryDisk)
            bytes.append(littleEndian: zip64.entriesOnDisk ?? UInt64(entries.count))
            bytes.append(littleEndian: zip64.entries ?? UInt64(entries.count))
            bytes.append(littleEndian: zip64.size ?? UInt64(directorySize))
            bytes.append(littleEndian: zip64.offset ?? UInt64(directoryOffset))
            bytes.append(littleEndian: UInt32(0x0706_4B50))
            bytes.append(littleEndian: zip64.locatorDisk)
            bytes.append(littleEndian: zip64.locatorOffset ?? UInt64(recordOffset))
            bytes.append(littleEndian: zip64.locatorDisks)
        }
        bytes.append(littleEndian: UInt32(0x0605_4B50))
        bytes.append(littleEndian: end.disk)
        bytes.append(littleEndian: end.directoryDisk)
        bytes.append(littleEndian: end.entriesOnDisk ?? UInt16(truncatingIfNeeded: entries.count))
        bytes.append(littleEndian: end.entries ?? UInt16(truncatingIfNeeded: entries.count))
        bytes.append(littleEndian: end.size ?? UInt32(directorySize))
        bytes.append(littleEndian: end.offset ?? UInt32(directoryOffset))
        bytes.append(littleEndian: end.commentLength ?? UInt16(comment.count))
        return Data(bytes + comment + trailing)
    }
}

/// One entry of a raw archive; `nil` stands for the correct value, or in a local header for the directory's value.
struct RawEntry {
    var gap: [UInt8] = []
    var name: [UInt8]
    /// The entry's bytes as the archive has them, for example deflated.
    var data: [UInt8]
    var flags: UInt16 = 1 << 11
    var method: UInt16
    var time: UInt32 = 0x0021_0000
    var crc32: UInt32
    var size: UInt64
    var compressedSize: UInt64
    var extra: [UInt8] = []
    var descriptor: [UInt8] = []

    var host: UInt8 = 3
    var neededVersion: UInt16 = 20
    var attributes: UInt32
    var disk: UInt16 = 0
    var size32: UInt32?
    var compressedSize32: UInt32?
    var offset: UInt32?
    var centralSignature: UInt32 = 0x0201_4B50
    var comment: [UInt8] = []

    var localSignature: UInt32 = 0x0403_4B50
    var localName: [UInt8]?
    var localFlags: UInt16?
    var localMethod: UInt16?
    var localCRC32: UInt32?
    var localSize: UInt32?
    var localCompressedSize: UInt32?
    var localExtra: [UInt8]?

    /// Creates a sound entry; a directory if the name ends in a slash.
    init(_ name: String, _ contents: String = "contents", deflated: Bool = false) {
        self.init(Array(name.utf8), Array(contents.utf8), deflated: deflated)
    }

    init(_ name: [UInt8], _ contents: [UInt8], deflated: Bool = false) {
        let isDirectory = name.last == UInt8(ascii: "/")
        let contents = isDirectory ? [] : contents
        self.name = name
        data = deflated ? Self.deflate(contents) : contents
        method = deflated ? 8 : 0
        var checksum = CRC32()
        checksum.update(contents[...])
        crc32 = checksum.value
        size = UInt64(contents.count)
        compressedSize = UInt64(data.count)
        attributes = isDirectory ? 0o040_755 << 16 | 0x10 : 0o100_644 << 16
    }

    /// Returns a changed copy of this entry.
    func with(_ change: (inout RawEntry) -> Void) -> RawEntry {
        var entry = self
        change(&entry)
        return entry
    }

    /// Returns this entry with its numbers in a descriptor after the data.
    func describedBehind(signed: Bool = true, wide: Bool = false, _ change: (inout [UInt8]) -> Void = { _ in }) -> Self
    {
        with { entry in
            entry.flags |= 1 << 3
            (entry.localCRC32, entry.localSize, entry.localCompressedSize) = (0, 0, 0)
            if signed { entry.descriptor.append(littleEndian: UInt32(0x0807_4B50)) }
            entry.descriptor.append(littleEndian: entry.crc32)
            for number in [entry.compressedSize, entry.size] {
                if wide {
                    entry.descriptor.append(littleEndian: number)
                } else {
                    entry.descriptor.append(littleEndian: UInt32(number))
                }
            }
            change(&entry.descriptor)
        }
    }

    /// An extra field.
    static func field(_ identifier: UInt16, _ content: [UInt8]) -> [UInt8] {
        var field: [UInt8] = []
        field.append(littleEndian: identifier)
        field.append(littleEndian: UInt16(content.count))
        return field + content
    }

    /// A zip64 field of numbers.
    static func zip64(_ numbers: UInt64...) -> [UInt8] {
        var content: [UInt8] = []
        for number in numbers { content.append(littleEndian: number) }
        return field(1, content)
    }

    /// An Info-ZIP Unicode Path field for a name's bytes.
    static func unicodePath(_ path: [UInt8], for name: [UInt8]) -> [UInt8] {
        var checksum = CRC32()
        checksum.update(name[...])
        var content: [UInt8] = [1]
        content.append(littleEndian: checksum.value)
        return field(0x7075, content + path)
    }

    static func deflate(_ contents: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        try? contents.withUnsafeBytes { bytes in
            try Deflater(level: 9).deflate(bytes, isLast: true, through: buffer) { output += $0 }
        }
        return output
    }

    var local: [UInt8] {
        var bytes: [UInt8] = []
        let (name, extra) = (localName ?? name, localExtra ?? extra)
        bytes.append(littleEndian: localSignature)
        bytes.append(littleEndian: neededVersion)
        bytes.append(littleEndian: localFlags ?? flags)
        bytes.append(littleEndian: localMethod ?? method)
        bytes.append(littleEndian: time)
        bytes.append(littleEndian: localCRC32 ?? crc32)
        bytes.append(littleEndian: localCompressedSize ?? compressedSize32 ?? UInt32(clamping: compressedSize))
        bytes.append(littleEndian: localSize ?? size32 ?? UInt32(clamping: size))
        bytes.append(littleEndian: UInt16(name.count))
        bytes.append(littleEndian: UInt16(extra.count))
        return bytes + name + extra + data + descriptor
    }

    func central(offset trueOffset: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: centralSignature)
        bytes.append(littleEndian: UInt16(host) << 8 | 20)
        bytes.append(littleEndian: neededVersion)
        bytes.append(littleEndian: flags)
        bytes.append(littleEndian: method)
        bytes.append(littleEndian: time)
        bytes.append(littleEndian: crc32)
        bytes.append(littleEndian: compressedSize32 ?? UInt32(clamping: compressedSize))
        bytes.append(littleEndian: size32 ?? UInt32(clamping: size))
        bytes.append(littleEndian: UInt16(name.count))
        bytes.append(littleEndian: UInt16(extra.count))
        bytes.append(littleEndian: UInt16(comment.count))
        bytes.append(littleEndian: disk)
        bytes.append(littleEndian: UInt16(0))
        bytes.append(littleEndian: attributes)
        bytes.append(littleEndian: offset ?? UInt32(clamping: trueOffset))
        return bytes + name + extra + comment
    }
}
