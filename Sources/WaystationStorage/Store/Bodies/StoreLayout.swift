import Foundation
import WaystationHTTP

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

    init() {}

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
