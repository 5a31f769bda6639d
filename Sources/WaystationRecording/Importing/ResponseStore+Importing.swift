public import Foundation
public import Waystation
public import WaystationStorage

extension ResponseCache {
    /// Imports a recording into the cache, so that its pages load without a network.
    ///
    /// The file's content decides whether it is a HAR or a WARC, compressed by gzip or not.
    ///
    /// Each response to a GET with a status of 2xx or 3xx is stored under its canonical URL, as a rule with
    /// `.cacheFirst(for:)` stores it: decoded, with its `Vary`, and replacing the response stored there.
    ///
    /// ```swift
    /// let report = try await cache.importRecording(at: file)
    /// for skipped in report.skipped { print(skipped.url, skipped.detail) }
    /// ```
    ///
    /// - Parameters:
    ///   - file: The recording.
    ///   - options: The choices for importing it.
    /// - Returns: The result for each exchange.
    /// - Throws: ``RecordingError`` when the file cannot be read or is damaged: the responses before the damage are
    ///   stored if it is a WARC, and none if it is a HAR. `StoreError` when the cache does not work.
    @discardableResult
    public func importRecording(at file: URL, options: ImportOptions = ImportOptions()) async throws -> ImportReport {
        try await store.importRecording(at: file, options: options)
    }

    /// Imports a HAR into the cache; see ``importRecording(at:options:)``.
    ///
    /// Responses whose bodies are files beside a HAR file are skipped: import them by the file.
    ///
    /// - Throws: `StoreError` when the cache does not work.
    @discardableResult
    public func importRecording(
        _ archive: HARArchive,
        options: ImportOptions = ImportOptions()
    ) async throws -> ImportReport {
        try await store.importRecording(archive, options: options)
    }
}

extension ResponseStore {
    /// Imports a recording into the store.
    ///
    /// The file's content decides whether it is a HAR or a WARC, compressed by gzip or not.
    ///
    /// - Parameters:
    ///   - file: The recording.
    ///   - options: The choices for importing it.
    /// - Returns: The result for each exchange.
    /// - Throws: ``RecordingError`` when the file cannot be read or is damaged: the responses before the damage are
    ///   stored if it is a WARC, and none if it is a HAR. `StoreError` when the store does not work.
    @discardableResult
    public func importRecording(at file: URL, options: ImportOptions = ImportOptions()) async throws -> ImportReport {
        try await OpenedRecording(at: file, options: options).stored(in: self)
    }

    /// Imports a HAR into the store.
    ///
    /// Responses whose bodies are files beside a HAR file are skipped: import them by the file.
    ///
    /// - Throws: `StoreError` when the store does not work.
    @discardableResult
    public func importRecording(
        _ archive: HARArchive,
        options: ImportOptions = ImportOptions()
    ) async throws -> ImportReport {
        var recording = RecordingImport(self, options)
        try await recording.take(archive, in: nil)
        return recording.report
    }
}
