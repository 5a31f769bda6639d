package import Foundation
import WaystationFileSystem
package import WaystationStorage

/// A recording of which at least one response can be read, before anything of it is stored.
package struct OpenedRecording {
    private enum Contents {
        case archive(HARArchive)
        case records(WARCImport, FileSource)
    }

    private let contents: Contents
    private let folder: URL
    private let options: ImportOptions

    /// Reads a whole HAR, or makes the first of two passes over a WARC.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be read, when it is a damaged HAR, and when it is a WARC that
    ///   is damaged before its first response.
    package init(at file: URL, options: ImportOptions) throws(RecordingError) {
        self.options = options
        folder = file.deletingLastPathComponent()
        let source: FileSource
        do { source = try FileSource(file) } catch {
            throw RecordingError(.unreadable, "\(file.path) cannot be opened", cause: error)
        }
        let input = try RecordInput(source)
        let beginning = String(decoding: try input.peek(512), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines.union(["\u{FEFF}"]))
        if beginning.hasPrefix("{") {
            contents = .archive(try HARArchive(reading: input, maximumSize: options.maximumHARSize))
            return
        }
        guard beginning.hasPrefix("WARC/") else {
            throw RecordingError(
                .unknownFormat,
                "\(file.path) is neither HAR (JSON) nor WARC: decompress it if it is compressed"
            )
        }
        contents = .records(try WARCImport(source, options.warc), source)
    }

    /// Imports the recording into a store.
    ///
    /// - Returns: The result for each exchange.
    /// - Throws: ``RecordingError`` when the file is a WARC that is damaged; the responses before the damage are stored.
    ///   `StoreError` when the store does not work.
    package func stored(in store: ResponseStore) async throws -> ImportReport {
        var recording = RecordingImport(store, options)
        switch contents {
        case .archive(let archive): try await recording.take(archive, in: folder)
        case .records(var records, let source): try await records.run(source, into: &recording)
        }
        return recording.report
    }
}
