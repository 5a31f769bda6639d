public import Foundation
import Synchronization

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
    }

    private let state = Mutex(State())
    private let fileSystem: any FileSystem

    init(fileSystem: any FileSystem) { self.fileSystem = fileSystem }

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
            let file = state.file
            state.file = nil
            if let file { try fileSystem.removeFile(file.path) }
        }
    }

    private func write(block: Data, to state: inout State, _ staging: StagingDirectory) throws {
        let file = try state.file ?? fileSystem.createFile("\(staging.path)/\(RandomName.make())")
        state.file = file
        try fileSystem.write(block, to: file)
        if !block.isEmpty {
            state.checksums.append(block: block)
            state.digest.update(block)
        }
        state.length += block.count
    }
}
