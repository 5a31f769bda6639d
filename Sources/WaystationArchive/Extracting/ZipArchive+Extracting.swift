public import Foundation
package import WaystationFileSystem

extension ZipArchive {
    /// Writes all entries into a new directory, using all cores.
    ///
    /// Files are made with mode 0600 and directories with 0700; the archive's own modes and times are not used. No
    /// existing file is ever opened. Memory use is constant: about 200 KiB for each thread. The calling task's thread
    /// is not blocked. When the task is cancelled, work stops soon, and files that were already written stay: remove
    /// the directory after any failure.
    ///
    /// - Parameters:
    ///   - directory: The directory to write into; it must not exist yet, or must be empty.
    ///   - synchronizes: Whether everything is on the medium when this returns. Default: `false`.
    ///   - progress: Called for every complete entry and for each further MiB of large ones, with one report at a time
    ///     and in order, on any thread. The extraction waits for it.
    /// - Throws: ``ZipError`` for the archive, `CancellationError`, or the error of the source or the disk, such as
    ///   `FileError`.
    public func extract(
        into directory: URL,
        synchronizes: Bool = false,
        progress: @escaping @Sendable (ExtractionProgress) -> Void = { _ in }
    ) async throws {
        try directory.checkIsFile(for: "mkdir")
        try await extract(
            into: directory.path(percentEncoded: false),
            using: LocalFileSystem(),
            synchronizes: synchronizes,
            progress: progress
        )
    }

    /// Writes all entries into a new directory of any file system.
    ///
    /// `observe` is called for each file, on the thread that extracts it, and may return an observer of its bytes.
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
