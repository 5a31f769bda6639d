public import Foundation
import Synchronization
import WaystationHTTP

/// The bytes of a stored response: in memory when small, in an open file when large.
public enum StoredBody: Sendable {
    /// A body in memory, checked against its recorded checksum when it was read.
    case data(Data)

    /// A body in a file, checked block by block as it is read.
    case file(StoredBodyFile)

    /// The number of bytes.
    public var length: Int {
        switch self {
        case .data(let data): data.count
        case .file(let file): file.length
        }
    }

    /// The whole body in memory.
    ///
    /// - Throws: ``StoreError`` when the file is short or its bytes are not those that were stored.
    /// - Complexity: O(length) for a file, whose bytes are read by the calling thread; O(1) otherwise.
    public func contents() throws(StoreError) -> Data {
        switch self {
        case .data(let data): data
        case .file(let file): try file.read(at: 0, count: file.length)
        }
    }
}

/// A file that holds a large body.
///
/// It is open, and stays readable for as long as this object lives, even when the response is removed from its store
/// meanwhile. Safe to use from any thread.
public final class StoredBodyFile: Sendable {
    /// The number of bytes in the body.
    public let length: Int

    /// The open file; `nil` until the first read of a body whose look-up did not expect it to be read.
    private let file: Mutex<OpenFile?>
    private let open: @Sendable () throws(StoreError) -> OpenFile
    private let fileSystem: any FileSystem
    private let checksums: BlockChecksums
    private let onDamage: @Sendable (OpenFile, String) -> Void

    init(
        length: Int,
        file: OpenFile?,
        fileSystem: any FileSystem,
        checksums: BlockChecksums,
        open: @escaping @Sendable () throws(StoreError) -> OpenFile,
        onDamage: @escaping @Sendable (OpenFile, String) -> Void
    ) {
        self.length = length
        self.file = Mutex(file)
        self.open = open
        self.fileSystem = fileSystem
        self.checksums = checksums
        self.onDamage = onDamage
    }

    /// Reads bytes and checks them against the checksums taken when they were stored.
    ///
    /// Each checksum covers a block of 64 KiB: ranges that begin and end on multiples of 64 KiB read no byte twice.
    /// - Parameters:
    ///   - offset: The first byte to read; at or beyond ``length`` the result is empty.
    ///   - count: How many bytes to read; the range ends at ``length`` at the latest.
    /// - Returns: The bytes of the range; never fewer than it holds.
    /// - Throws: ``StoreError`` with ``StoreError/Code/damaged`` when the file is short or its bytes have changed. The
    ///   store has been asked to drop the response by then. Never returns fewer bytes than the range holds.
    public func read(at offset: Int, count: Int) throws(StoreError) -> Data {
        guard offset >= 0, count > 0, offset < length else { return Data() }
        let end = offset + min(count, length - offset)
        let firstBlock = offset / BlockChecksums.blockSize
        let start = firstBlock * BlockChecksums.blockSize
        let stop = min(length, BlockChecksums.count(forLength: end) * BlockChecksums.blockSize)
        let file = try opened()
        let bytes: Data
        do {
            bytes = try fileSystem.read(file, at: start, count: stop - start)
        } catch {
            throw damaged(file, "could not be read", cause: error)
        }
        guard bytes.count == stop - start else {
            throw damaged(file, "ends after \(start + bytes.count) of \(length) bytes")
        }
        var rest = bytes[...]
        for block in firstBlock..<BlockChecksums.count(forLength: end) {
            guard XXH64.of(rest.prefix(BlockChecksums.blockSize)) == checksums.values[block] else {
                throw damaged(file, "has changed bytes after byte \(block * BlockChecksums.blockSize)")
            }
            rest = rest.dropFirst(BlockChecksums.blockSize)
        }
        let isWhole = start == offset && stop == end
        return isWhole ? bytes : bytes.subdata(in: bytes.startIndex + offset - start..<bytes.startIndex + end - start)
    }

    private func opened() throws(StoreError) -> OpenFile {
        if let file = file.withLock(\.self) { return file }
        let new = try open()
        return file.withLock { file in
            // Another thread may have opened it too.
            file = file ?? new
            return file ?? new
        }
    }

    private func damaged(_ file: OpenFile, _ what: String, cause: (any Error)? = nil) -> StoreError {
        let detail = "body file \(file.path) \(what)"
        onDamage(file, detail)
        return StoreError(.damaged, detail + "; the response is dropped, load it again", cause: cause)
    }
}

/// Writes a body to a staging file in whole blocks, and calculates the blocks' checksums and the digest meanwhile.
///
/// Used from the store's write queue only, so its lock is never contended.
final class BodyStaging: Sendable {
    private struct State {
        var file: OpenFile?
        var pending = Data()
        var checksums = BlockChecksums()
        var digest = MessageDigest()
        var length = 0
        var isDiscarded = false
        /// The file of the record.
        var record: OpenFile?
    }

    private let state = Mutex(State())
    private let fileSystem: any FileSystem
    /// Makes the beginning of the record for a process that finds the file after this one was killed.
    private let record: @Sendable () -> Data?

    /// The suffix of the name of a record, behind the name of its file.
    static let recordSuffix = ".part"

    /// - Parameters:
    ///   - fileSystem: The file system.
    ///   - record: Makes the beginning of a record beside the file, which gets the checksum of each block after it; nil for
    ///     no record. It is called when the first block is written.
    init(fileSystem: any FileSystem, record: @escaping @Sendable () -> Data? = { nil }) {
        self.fileSystem = fileSystem
        self.record = record
    }

    /// Appends bytes; the first write makes the file in the staging directory.
    func write(_ data: Data, in staging: StagingDirectory) throws {
        try state.withLock { state in
            guard !state.isDiscarded else { return }
            state.pending.append(data)
            var rest = state.pending[...]
            while rest.count >= BlockChecksums.blockSize {
                try write(block: rest.prefix(BlockChecksums.blockSize), to: &state, staging)
                rest = rest.dropFirst(BlockChecksums.blockSize)
            }
            state.pending = Data(rest)
        }
    }

    /// A complete body, under a random name in the staging directory.
    struct Staged {
        let path: String
        let length: Int
        let checksums: BlockChecksums
        let name: BodyName
    }

    /// Writes the remaining bytes.
    ///
    /// The bytes need not be on the storage medium yet: see ``synchronize()``.
    /// - Returns: `nil` when the spool was discarded before.
    func finish(in staging: StagingDirectory) throws -> Staged? {
        try state.withLock { state in
            guard !state.isDiscarded else { return nil }
            if !state.pending.isEmpty || state.file == nil {
                try write(block: state.pending, to: &state, staging)
                state.pending = Data()
            }
            guard let file = state.file else { return nil }
            return Staged(
                path: file.path,
                length: state.length,
                checksums: state.checksums,
                name: BodyName(digest: state.digest.bytes)
            )
        }
    }

    /// Returns when all written bytes are on the storage medium.
    func synchronize() throws {
        if let file = state.withLock({ $0.file }) { try fileSystem.synchronize(file) }
    }

    /// Ends the spool's ownership of the file, after the caller has moved it to its place.
    func release() {
        state.withLock { state in
            state.isDiscarded = true
            state.file = nil
        }
    }

    /// Whether a process that finds the file after a kill can use it.
    var hasRecord: Bool { state.withLock { $0.record != nil } }

    /// Whether bytes were written.
    var hasFile: Bool { state.withLock { $0.file != nil } }

    /// Whether the file was removed, or moved to its place.
    var isDiscarded: Bool { state.withLock(\.isDiscarded) }

    /// Removes the file.
    ///
    /// Later calls do nothing.
    func discard() throws {
        try state.withLock { state in
            state.isDiscarded = true
            state.pending = Data()
            // The record goes first: without it, the file is of no use.
            for file in [state.record.take(), state.file.take()].compactMap(\.self) {
                try fileSystem.removeFile(file.path)
            }
        }
    }

    private func write(block: Data, to state: inout State, _ staging: StagingDirectory) throws {
        let file = try state.file ?? fileSystem.createFile("\(staging.path)/\(RandomName.make())")
        if state.file == nil, let beginning = record() {
            let record = try fileSystem.createFile(file.path + Self.recordSuffix)
            state.record = record
            try fileSystem.write(beginning, to: record)
        }
        state.file = file
        try fileSystem.write(block, to: file)
        if !block.isEmpty {
            state.checksums.append(block: block)
            state.digest.update(block)
            if let record = state.record, let last = state.checksums.values.last {
                try fileSystem.write(BlockChecksums(values: [last]).encoded, to: record)
            }
        }
        state.length += block.count
    }
}

/// The paths of a store's files.
///
/// ```
/// index.sqlite (-wal, -shm)     index and small bodies
/// index.sqlite.damaged-1        the last index that had to be replaced
/// recovery.lock                 held while an index is replaced
/// bodies/4f/4f0c9d8e5b7a4321…   large bodies, complete, named by their SHA-256
/// staging/9be1…/                what one running process is writing; its file `lock` is locked while it runs
/// ```
struct StoreLayout: Sendable {
    let root: String
    /// The URL from which the root was taken; nil if it was given as a path.
    private let directory: URL?

    init(root: String) { (self.root, directory) = (root, nil) }

    init(directory: URL) {
        root = directory.standardizedFileURL.path(percentEncoded: false).trimmingTrailingSlash
        self.directory = directory
    }

    /// The beginning of the names of damaged indices.
    static let setAside = "index.sqlite.damaged-"

    var index: String { root + "/index.sqlite" }
    var recoveryLock: String { root + "/recovery.lock" }
    var renewalLock: String { root + "/renewals.lock" }
    var bodies: String { root + "/bodies" }
    var staging: String { root + "/staging" }

    /// Makes the directories that are missing and checks those that exist: the root must have a file URL, the directories
    /// and the index must not be links, must belong to this process's user, and must not be writable by other users.
    ///
    /// Removes other users' access to the index and to the directories below the root. Opens only directories.
    /// - Parameter fileSystem: One that is confined to the root.
    /// - Throws: `FileError`, which reports what was found and what to do.
    func claim(_ fileSystem: any FileSystem) throws {
        try directory?.checkIsFile(for: "mkdir")
        for path in [root, bodies, staging] { try fileSystem.createDirectory(path) }
        try fileSystem.checkDirectories(in: bodies, where: BodyName.isShard)
        for suffix in ["", "-wal", "-shm", "-journal"] { try fileSystem.makePrivate(index + suffix) }
    }

    /// The path of a body file that the index names.
    ///
    /// - Returns: `nil` for any name that this store would not have assigned, since such a name may point anywhere.
    func body(_ name: String) -> String? { BodyName(name).map(path(of:)) }

    func path(of body: BodyName) -> String { "\(bodies)/\(body.text)" }

    func directory(of body: BodyName) -> String { "\(bodies)/\(body.shard)" }
}

/// The name of a body file below `bodies/`, as the column `body_file` holds it: a directory of the digest's first two
/// digits, then the digest.
///
/// Equal bodies have one name, and so one file, even for different URLs, variants and partitions.
struct BodyName: Hashable, Sendable {
    /// For example `4f/4f0c9d8e…`.
    let text: String

    /// Makes the name of a body from its SHA-256.
    init(digest: [UInt8]) {
        let digits = digest.hexadecimal
        text = "\(digits.prefix(2))/\(digits)"
    }

    /// Parses a name that was read from the index or the disk.
    ///
    /// - Returns: `nil` for a name that no version of this store assigns.
    init?(_ text: String) {
        let digits = text.dropFirst(3)
        // Schema version 1 named bodies at random, with half as many digits; such a file stays as long as its row.
        guard [64, 32].contains(digits.utf8.count), digits.count == digits.utf8.count,
            text.utf8.count == digits.utf8.count + 3, text.dropFirst(2).first == "/",
            digits.hasPrefix(text.prefix(2)),
            digits.utf8.allSatisfy(\.isLowerCaseHexadecimalDigit)
        else { return nil }
        self.text = text
    }

    /// Whether a directory name below `bodies/` is one that may contain body files.
    static func isShard(_ name: String) -> Bool {
        name.utf8.count == 2 && name.utf8.allSatisfy(\.isLowerCaseHexadecimalDigit)
    }

    /// The directory below `bodies/`.
    var shard: String { String(text.prefix(2)) }

    /// The SHA-256 of the body in hexadecimal; `nil` for a random name.
    var digest: String? { text.utf8.count == 67 ? String(text.dropFirst(3)) : nil }
}

/// One checksum for each block of a body, so that any range can be checked by reading only the blocks it touches.
struct BlockChecksums: Equatable, Sendable {
    static let blockSize = 64 * 1024

    private(set) var values: [UInt64] = []

    init(values: [UInt64] = []) { self.values = values }

    init(of body: Data) {
        var rest = body[...]
        while !rest.isEmpty {
            append(block: rest.prefix(Self.blockSize))
            rest = rest.dropFirst(Self.blockSize)
        }
    }

    /// Decodes what ``encoded`` returned; `nil` when the data cannot belong to a body of that length.
    init?(encoded: UnsafeRawBufferPointer, bodyLength: Int) {
        guard bodyLength >= 0, encoded.count == Self.count(forLength: bodyLength) * 8 else { return nil }
        values = (0..<encoded.count / 8).map {
            UInt64(littleEndian: encoded.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self))
        }
    }

    /// Whether these are the checksums of a body.
    func match(_ body: UnsafeRawBufferPointer) -> Bool {
        guard values.count == Self.count(forLength: body.count) else { return false }
        return values.indices.allSatisfy { number in
            let start = number * Self.blockSize
            let end = min(start + Self.blockSize, body.count)
            return XXH64.of(UnsafeRawBufferPointer(rebasing: body[start..<end])) == values[number]
        }
    }

    mutating func append(block: Data) { values.append(XXH64.of(block)) }

    static func count(forLength length: Int) -> Int { (length + blockSize - 1) / blockSize }

    var encoded: Data {
        var data = Data(capacity: values.count * 8)
        for value in values {
            withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) }
        }
        return data
    }
}

/// XXH64, a fast 64-bit hash: detects bytes that were damaged after they were stored.
///
/// It does not protect against an attacker who may write to the directory, and need not: such an attacker controls the
/// store anyway.
/// Specification: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md (§ XXH64).
enum XXH64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    static func of(_ data: Data) -> UInt64 { data.withUnsafeBytes { of($0) } }

    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var offset = 0
        var hash: UInt64
        if bytes.count >= 32 {
            var lane1 = seed &+ prime1 &+ prime2
            var lane2 = seed &+ prime2
            var lane3 = seed
            var lane4 = seed &- prime1
            while bytes.count - offset >= 32 {
                lane1 = round(lane1, word(bytes, offset))
                lane2 = round(lane2, word(bytes, offset + 8))
                lane3 = round(lane3, word(bytes, offset + 16))
                lane4 = round(lane4, word(bytes, offset + 24))
                offset += 32
            }
            hash = rotated(lane1, 1) &+ rotated(lane2, 7) &+ rotated(lane3, 12) &+ rotated(lane4, 18)
            for lane in [lane1, lane2, lane3, lane4] {
                hash = (hash ^ round(0, lane)) &* prime1 &+ prime4
            }
        } else {
            hash = seed &+ prime5
        }
        hash &+= UInt64(bytes.count)
        while bytes.count - offset >= 8 {
            hash = rotated(hash ^ round(0, word(bytes, offset)), 27) &* prime1 &+ prime4
            offset += 8
        }
        if bytes.count - offset >= 4 {
            let half = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
            hash = rotated(hash ^ (half &* prime1), 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < bytes.count {
            hash = rotated(hash ^ (UInt64(bytes[offset]) &* prime5), 11) &* prime1
            offset += 1
        }
        hash = (hash ^ (hash >> 33)) &* prime2
        hash = (hash ^ (hash >> 29)) &* prime3
        return hash ^ (hash >> 32)
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private static func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 {
        (value << count) | (value >> (64 - count))
    }

    private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
        rotated(lane &+ input &* prime2, 31) &* prime1
    }
}
