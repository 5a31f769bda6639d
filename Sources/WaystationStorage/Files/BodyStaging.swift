import Foundation
import Synchronization
import WaystationCryptography
import WaystationFileSystem

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
