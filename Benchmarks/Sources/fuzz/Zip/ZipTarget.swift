import Foundation
import WaystationArchive
import WaystationStorage

/// Opens an archive, reads every entry, extracts the archive, and compares the results.
struct ZipTarget: FuzzTarget {
    let maximumLength = 4 << 10
    private let scratch: Scratch
    private let limits: [ZipLimits]

    init() throws {
        scratch = try Scratch()
        var strict = ZipLimits()
        strict.maximumEntries = 64
        strict.maximumEntrySize = 256 << 10
        strict.maximumTotalSize = 512 << 10
        strict.ratioFloor = 16 << 10
        strict.maximumNameLength = 300
        strict.maximumDepth = 8
        // Inputs that the strict limits refuse for junk or names get further with the lenient ones.
        var lenient = strict
        lenient.toleratedJunk = [.leading, .between, .trailing]
        lenient.unmarkedNames = .utf8
        limits = [strict, lenient]
    }

    func seeds() throws -> [Data] { try ZipSeeds.all() }

    func mutated(_ input: [UInt8], using random: inout SeededGenerator) -> [UInt8]? {
        ZipDamage.damaged(input, using: &random)
    }

    func run(_ input: Data) throws {
        for limits in limits {
            do {
                let archive = try ZipArchive(DataSource(input), limits: limits)
                try check(archive, limits)
                return
            } catch is ZipError {}
        }
    }

    private func check(_ archive: ZipArchive, _ limits: ZipLimits) throws {
        try Finding.unless(archive.entries.count <= limits.maximumEntries, "too many entries")
        try Finding.unless(archive.totalSize <= limits.maximumTotalSize, "too many bytes")
        var contents: [String: Data]? = [:]
        for entry in archive.entries {
            try checkPath(entry.path, limits)
            try Finding.unless(entry.size <= limits.maximumEntrySize, "'\(entry.path)' is too large")
            let data = try read(entry, of: archive)
            if data == nil { contents = nil }
            if !entry.isDirectory { contents?[entry.path] = data }
        }
        do {
            let target = scratch.target
            try blocking { try await archive.extract(into: target) }
            try Finding.unless(contents != nil, "an archive was extracted although it cannot be read")
            try Finding.unless(try scratch.files() == contents, "reading and extracting differ")
        } catch let error as ZipError {
            try Finding.unless(contents == nil, "the archive can be read but not extracted: \(error)")
        }
        try scratch.clear()
    }

    /// The bytes of an entry; nil when they are damaged.
    private func read(_ entry: ZipEntry, of archive: ZipArchive) throws -> Data? {
        var data = Data()
        do {
            try archive.read(entry) { bytes in
                try Finding.unless(bytes.count <= 64 << 10, "a piece of \(bytes.count) bytes")
                data.append(contentsOf: bytes)
                try Finding.unless(data.count <= entry.size, "'\(entry.path)' has more bytes than its size")
            }
        } catch is ZipError {
            return nil
        }
        try Finding.unless(data.count == entry.size, "'\(entry.path)' has fewer bytes than its size")
        try Finding.unless(CRC32.of([UInt8](data)) == entry.crc32, "'\(entry.path)' does not match its checksum")
        return data
    }

    private func checkPath(_ path: String, _ limits: ZipLimits) throws {
        let names = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isPlain = names.allSatisfy { name in
            !name.isEmpty && !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8) && name.count <= 255
        }
        let isSafe = !path.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\\") }
        try Finding.unless(
            isPlain && isSafe && path.utf8.count <= limits.maximumNameLength && names.count <= limits.maximumDepth,
            "the path '\(path)' was accepted"
        )
    }
}
