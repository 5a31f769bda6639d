public import Foundation
package import WaystationFileSystem

extension ZipArchive {
    /// Writes all entries into a new directory, on all cores.
    ///
    /// Files are made with mode 0600 and directories with 0700; the archive's own modes and times are not taken over.
    /// No file that exists is ever opened. Memory stays flat: about 200 KiB for each thread. The calling task's thread is
    /// not blocked. When the task is cancelled, work stops soon, and what was written stays: remove the directory after
    /// any failure.
    ///
    /// - Parameters:
    ///   - directory: Where to; it must not exist yet, or be empty.
    ///   - synchronizes: Whether everything must be on the medium when this returns. It is not by default.
    ///   - progress: Told of every entry when it is complete and of each further MiB of large ones, one report at a
    ///     time and in order, on any thread. Work waits for it.
    /// - Throws: ``ZipError`` for the archive, `CancellationError`, or what the source or the disk throws, such as
    ///   `FileError`.
    public func extract(
        into directory: URL,
        synchronizes: Bool = false,
        progress: @escaping @Sendable (ExtractionProgress) -> Void = { _ in }
    ) async throws {
        try await extract(
            into: directory.path(percentEncoded: false),
            using: LocalFileSystem(),
            synchronizes: synchronizes,
            progress: progress
        )
    }

    /// Writes all entries into a new directory of any file system.
    ///
    /// `observe` is asked for each file, on the thread that extracts it, for someone who sees its bytes.
    package func extract(
        into directory: String,
        using fileSystem: any FileSystem,
        synchronizes: Bool = false,
        observe: (@Sendable (ZipEntry) -> (any EntryObserver)?)? = nil,
        progress: @escaping @Sendable (ExtractionProgress) -> Void = { _ in }
    ) async throws {
        let options = Extraction.Options(fileSystem: fileSystem, synchronizes: synchronizes, observe: observe)
        let extraction = Extraction(of: self, into: directory, options: options, progress: progress)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                extraction.start { continuation.resume(with: $0) }
            }
        } onCancel: {
            extraction.stop(CancellationError())
        }
    }
}
