import Foundation
import Synchronization
import WaystationFileSystem

/// A body on its way to a file: written in whole blocks, each with its checksum.
///
/// Used from the store's write queue only; the lock makes that a matter of speed and not of safety.
final class BodySpool: Sendable {
    private struct State {
        var file: OpenFile?
        var pending = Data()
        var checksums = BlockChecksums()
        var length = 0
        var isDiscarded = false
    }

    private let state = Mutex(State())
    private let fileSystem: any FileSystem

    init(fileSystem: any FileSystem) { self.fileSystem = fileSystem }

    /// Appends bytes; the file is made in the staging directory with the first of them.
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

    /// Writes what is left and returns when all is on the medium.
    ///
    /// - Returns: `nil` when the spool was discarded before.
    func finish(in staging: StagingDirectory) throws -> (path: String, length: Int, checksums: BlockChecksums)? {
        try state.withLock { state in
            guard !state.isDiscarded else { return nil }
            if !state.pending.isEmpty || state.file == nil {
                try write(block: state.pending, to: &state, staging)
                state.pending = Data()
            }
            guard let file = state.file else { return nil }
            try fileSystem.synchronize(file)
            return (file.path, state.length, state.checksums)
        }
    }

    /// Removes the file.
    ///
    /// Later calls do nothing.
    func discard() {
        state.withLock { state in
            state.isDiscarded = true
            state.pending = Data()
            if let file = state.file { try? fileSystem.removeFile(file.path) }
            state.file = nil
        }
    }

    private func write(block: Data, to state: inout State, _ staging: StagingDirectory) throws {
        let file = try state.file ?? fileSystem.createFile("\(staging.path)/\(RandomName.make())")
        state.file = file
        try fileSystem.write(block, to: file)
        if !block.isEmpty { state.checksums.append(block: block) }
        state.length += block.count
    }
}
