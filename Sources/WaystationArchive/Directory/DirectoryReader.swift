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
        let entries = zip(headers, dataOffsets).filter { $0.0.isListed }.map { header, dataOffset in
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
        while reader.remaining > 0 {
            guard headers.count < limits.maximumEntries else { throw NameTree.tooMany(limits.maximumEntries) }
            var header = try CentralHeader(from: &reader, limits: limits)
            header.isListed = try names.insert(header.path)
            // Some writers repeat directories. Nobody would read the data of the second one.
            guard header.isListed || header.compressedSize == 0 else { throw NameTree.collision(header.path) }
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
        guard end.states(headers.count) else { throw CentralHeader.damagedDirectory }
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
        var previousEnd = 0
        for (place, index) in order.enumerated() {
            let header = headers[index]
            guard let start = end.base.adding(header.offset), start < source.length else {
                throw ZipError.outsideFile(entry: header.path.path)
            }
            // An entry that starts before the previous one ends overlaps it.
            guard start >= previousEnd, start < end.range.lowerBound else { throw overlap(header) }
            try JunkScan.check(previousEnd..<start, of: source, at: place == 0 ? .leading : .between, limits: limits)
            reader.seek(to: start)
            let local = try LocalHeader(from: &reader, describing: header)
            dataOffsets[index] = local.dataOffset
            guard let dataEnd = dataOffsets[index].adding(header.compressedSize), dataEnd <= source.length else {
                throw ZipError.outsideFile(entry: header.path.path)
            }
            guard dataEnd <= end.range.lowerBound else { throw overlap(header) }
            reader.seek(to: dataEnd)
            if local.flags.union(header.flags).contains(.descriptor) {
                // Readers look for it only if the local header announces it, and some writers leave it out after
                // directories, which have no data.
                let isRequired = local.flags.contains(.descriptor) && !header.isDirectory
                try DataDescriptor.check(from: &reader, describing: header, isRequired: isRequired)
            }
            previousEnd = reader.position
        }
        try JunkScan.check(
            previousEnd..<end.range.lowerBound,
            of: source,
            at: headers.isEmpty ? .leading : .between,
            limits: limits
        )
        return dataOffsets
    }

    private func overlap(_ header: CentralHeader) -> ZipError {
        ZipError(
            .overlap,
            entry: header.path.path,
            "shares bytes with another entry or with the directory; fetch or create the archive again"
        )
    }
}
