public import Foundation
import HTTPTypes
public import Waystation
public import WaystationHTTP
public import WaystationStorage

/// An import of one recording into a store, in progress.
struct RecordingImport {
    /// A response that was stored, by its place in the store.
    struct Stored {
        let key: RequestKey
        let id: Int64
        let body: Data
    }

    let store: ResponseStore
    let options: ImportOptions
    let now: Date
    private(set) var report = ImportReport()

    init(_ store: ResponseStore, _ options: ImportOptions) {
        self.store = store
        self.options = options
        now = options.now()
    }

    /// Stores an exchange, or records the reason why it is not stored.
    ///
    /// - Returns: The stored response; nil when the exchange is not stored.
    /// - Throws: `StoreError` when the store does not work.
    @discardableResult
    mutating func take(
        _ url: String,
        _ exchange: () throws(ImportRefusal) -> ArchivedExchange
    ) async throws(StoreError) -> Stored? {
        let archived: ArchivedExchange
        let asked: StoredHead
        do {
            archived = try exchange()
            asked = try archived.prepared(options, maximumAge: store.limits.maximumAge, now: now)
        } catch {
            skip(url, error)
            return nil
        }
        guard archived.body.count <= store.largestBody else {
            skip(url, ImportRefusal(.tooLarge, "the body has \(archived.body.count) bytes, more than the cache keeps"))
            return nil
        }
        let head = asked.under(asked.key.storing(asked.headerFields))
        guard let writer = store.begin(head) else { throw store.refusesWrites }
        if head.key != asked.key { store.stateRule(of: head, under: asked.key) }
        writer.append(archived.body)
        do {
            let id = try await writer.commit()
            let imported = ImportReport.Imported(
                url: head.key.url,
                status: archived.status,
                bytes: archived.body.count
            )
            report.imported.append(imported)
            return Stored(key: head.key, id: id, body: archived.body)
        } catch  where error.code == .tooLarge || error.code == .abandoned {
            skip(url, ImportRefusal(.tooLarge, "the body has \(archived.body.count) bytes, more than the cache keeps"))
            return nil
        }
    }

    mutating func skip(_ url: String, _ refusal: ImportRefusal) {
        report.skipped.append(ImportReport.Skipped(url: url, reason: refusal.reason, detail: refusal.detail))
    }

    /// Stores the exchanges of a HAR.
    ///
    /// - Parameters:
    ///   - archive: The HAR.
    ///   - folder: The folder of its file; nil if bodies that are files of their own cannot be read.
    /// - Throws: `StoreError` when the store does not work.
    mutating func take(_ archive: HARArchive, in folder: URL?) async throws(StoreError) {
        let limit = options.maximumHARSize.bytes
        for entry in archive.entries {
            try await take(entry.request.url) { () throws(ImportRefusal) in
                try entry.archived(in: folder, limit: limit)
            }
        }
    }
}

/// The choices for importing a recording into a cache.
public struct ImportOptions: Sendable {
    /// The time at which an imported response counts as received.
    public enum Time: Hashable, Sendable {
        /// The time of recording: a response that was stale then is stale now, and one that is older than the cache
        /// keeps is skipped.
        case recorded
        /// Now, as if the origin had just answered: `Date` and `Expires` are moved, and `Age` is removed.
        case now
    }

    /// The time at which responses count as received; `.recorded` by default.
    public var time = Time.recorded
    /// Whether responses with `no-store` are stored; false by default.
    ///
    /// They are stored as if they had `no-cache`.
    public var includesNoStore = false
    /// Whether responses that vary by request fields (`Vary`) answer every request; false by default.
    ///
    /// A browser sends other fields than an app does. `Accept-Encoding` never counts, since bodies are stored without
    /// coding.
    public var ignoresVary = false
    /// The largest HAR file, and the largest file with a body beside it; 512 MiB by default.
    public var maximumHARSize = ByteCount.mebibytes(512)
    /// How much of one WARC record is read into memory.
    public var warc = WARCReader.Limits()
    /// The caching rules (RFC 9111).
    public var cachingRules = CachingRules()
    /// Returns the current time.
    public var now: @Sendable () -> Date = { Date() }

    /// Makes options with the default values.
    public init() {}
}

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
