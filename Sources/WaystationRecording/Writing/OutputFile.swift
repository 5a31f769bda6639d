import Foundation
import WaystationStorage

/// A file that gets its name when it is complete, and that only its owner can read.
///
/// If the object is released before ``finish()``, no file is left. Only one thread at a time may use it.
final class OutputFile {
    private enum Stage {
        case open
        /// The whole file is on disk, under its temporary name.
        case complete
        case finished
    }

    private let file: URL
    private let fileSystem = LocalFileSystem()
    private let opened: OpenFile
    private var stage = Stage.open
    /// How many bytes were written.
    private(set) var length = 0

    /// Makes the file under its temporary name, in the folder of its later name.
    ///
    /// - Throws: ``RecordingError`` when the URL is not a file URL, or the file cannot be made.
    init(_ file: URL) throws(RecordingError) {
        if let problem = file.fileURLProblem { throw RecordingError(.unwritable, problem) }
        self.file = file
        do { opened = try fileSystem.createFile(Self.temporaryPath(beside: file)) } catch {
            throw RecordingError(
                .unwritable,
                "\(file.path) cannot be made: check that its folder exists and is writable",
                cause: error
            )
        }
    }

    deinit { if stage != .finished { try? fileSystem.removeFile(opened.path) } }

    /// The path of the file before it is finished.
    var temporaryPath: String { opened.path }

    /// A path in the folder of a file that no other file has.
    static func temporaryPath(beside file: URL) -> String {
        file.deletingLastPathComponent().appending(path: ".\(file.lastPathComponent).\(UUID().uuidString)")
            .path(percentEncoded: false)
    }

    /// Adds bytes at the end.
    ///
    /// - Throws: ``RecordingError`` when they cannot be written.
    func write(_ data: Data) throws(RecordingError) {
        do { try fileSystem.write(data, to: opened) } catch { throw failure(error) }
        length += data.count
    }

    /// Completes the file under its temporary name, so that ``finish()`` only renames it.
    ///
    /// - Throws: ``RecordingError`` when the bytes do not reach the disk.
    func complete() throws(RecordingError) {
        guard stage == .open else { return }
        do { try fileSystem.synchronize(opened) } catch { throw failure(error) }
        stage = .complete
    }

    /// Completes the file and gives it its name, replacing an existing file.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be written.
    func finish() throws(RecordingError) {
        guard stage != .finished else { return }
        try complete()
        do { try fileSystem.rename(opened.path, to: file.path(percentEncoded: false)) } catch { throw failure(error) }
        stage = .finished
    }

    private func failure(_ error: any Error) -> RecordingError {
        RecordingError(.unwritable, "\(file.path) cannot be written", cause: error)
    }
}
