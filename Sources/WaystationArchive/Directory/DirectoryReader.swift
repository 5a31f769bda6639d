import WaystationFileSystem

/// Reads an archive's directory and every local header, and refuses the archive unless all of them are sound.
///
/// No part of an archive is used before this check is complete. After it, only the compressed data can still turn out
/// to differ from what the headers say.
struct DirectoryReader {
    private let source: any ByteSource
    private let limits: ZipLimits

    private static let directoryWindow = 64 << 10
    /// Room for the header of a small entry and of the entries after it.
    private static let headerWindow = 4 << 10

    init(_ source: any ByteSource, limits: ZipLimits) {
        self.source = source
        self.limits = limits
    }

    /// Reads the entries in the directory's order, and every directory that their paths need, parents before children.
    ///
    /// - Throws: ``ZipError``, or the source's error.
    func read() throws -> (entries: [ZipEntry], directories: [String]) {
        let end = try EndOfDirectory.find(in: source, limits: limits)
        let (headers, names) = try centralHeaders(end)
        let dataOffsets = try locate(headers, end: end)
        let entries = zip(headers, dataOffsets).map { header, dataOffset in
            ZipEntry(
                path: header.path.path,
                isDirectory: header.isDirectory,
                size: header.size,
                compressedSize: header.compressedSize,
                crc32: header.crc32,
                method: header.method,
                modified: header.modified,
                // The sum was checked when the header was located.
                offset: end.base + header.offset,
                dataOffset: dataOffset
            )
        }
        return (entries, names.directories)
    }

    private func centralHeaders(_ end: EndOfDirectory) throws -> ([CentralHeader], NameTree) {
        var reader = SourceReader(source, range: end.range, windowSize: Self.directoryWindow)
        var names = NameTree(maximumCount: limits.maximumEntries)
        var headers: [CentralHeader] = []
        var totalSize = 0
        for _ in 0..<end.entryCount {
            let header = try CentralHeader(from: &reader, limits: limits)
            try names.insert(header.path)
            guard let sum = totalSize.adding(header.size), sum <= limits.maximumTotalSize else {
                throw ZipError(
                    .archiveTooLarge,
                    "the archive's entries have more than the \(limits.maximumTotalSize) bytes that are allowed; raise "
                        + "`maximumTotalSize` to allow more"
                )
            }
            totalSize = sum
            headers.append(header)
        }
        guard reader.remaining == 0 else { throw CentralHeader.damagedDirectory }
        try CentralHeader.checkRatio(of: totalSize, to: source.length, limits: limits, entry: nil)
        return (headers, names)
    }

    /// Compares every local header and descriptor with the directory, and finds where each entry's data start.
    ///
    /// The entries are visited in the order of their offsets. Each entry may reach up to the next one, and the last up
    /// to the directory, so no two can overlap.
    private func locate(_ headers: [CentralHeader], end: EndOfDirectory) throws -> [Int] {
        let order = headers.indices.sorted { headers[$0].offset < headers[$1].offset }
        var dataOffsets = [Int](repeating: 0, count: headers.count)
        var reader = SourceReader(source, range: 0..<end.range.lowerBound, windowSize: Self.headerWindow)
        var previousEnd = end.base
        for (place, index) in order.enumerated() {
            let header = headers[index]
            guard let start = end.base.adding(header.offset), start < source.length else {
                throw ZipError.outsideFile(entry: header.path.path)
            }
            // An entry that starts before the previous one ends overlaps it.
            guard start >= previousEnd, start < end.range.lowerBound else { throw overlap(header) }
            if start > previousEnd { try checkJunk(start - previousEnd, isLeading: place == 0) }
            reader.seek(to: start)
            dataOffsets[index] = try LocalHeader(from: &reader, describing: header).dataOffset
            guard let dataEnd = dataOffsets[index].adding(header.compressedSize), dataEnd <= source.length else {
                throw ZipError.outsideFile(entry: header.path.path)
            }
            guard dataEnd <= end.range.lowerBound else { throw overlap(header) }
            reader.seek(to: dataEnd)
            if header.flags.contains(.descriptor) { try DataDescriptor.check(from: &reader, describing: header) }
            previousEnd = reader.position
        }
        if previousEnd < end.range.lowerBound {
            try checkJunk(end.range.lowerBound - previousEnd, isLeading: headers.isEmpty)
        }
        return dataOffsets
    }

    private func checkJunk(_ count: Int, isLeading: Bool) throws(ZipError) {
        guard !limits.toleratedJunk.contains(isLeading ? .leading : .between) else { return }
        throw ZipError(
            isLeading ? .leadingJunk : .junkBetweenEntries,
            "the archive has \(count) bytes that belong to no entry; create it again, or allow "
                + "`\(isLeading ? ".leading" : ".between")` junk"
        )
    }

    private func overlap(_ header: CentralHeader) -> ZipError {
        ZipError(
            .overlap,
            entry: header.path.path,
            "shares bytes with another entry or with the directory; fetch or create the archive again"
        )
    }
}
