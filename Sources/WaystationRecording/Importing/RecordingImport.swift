public import Foundation
import HTTPTypes
public import Waystation
import WaystationArchive
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

    /// A variant of a URL.
    private struct Variant: Hashable {
        let key: RequestKey
        let vary: VaryKey
    }

    let store: ResponseStore
    let options: ImportOptions
    let now: Date
    private(set) var report = ImportReport()
    /// The times of capture of those responses of this import that count as received at another time; `distantPast` of one
    /// without a date.
    private var captures: [Variant: Date] = [:]

    init(_ store: ResponseStore, _ options: ImportOptions) {
        self.store = store
        self.options = options
        now = options.now()
    }

    /// Stores an exchange, or records the reason why it is not stored.
    ///
    /// - Parameters:
    ///   - url: The URL as it was recorded.
    ///   - place: The place of the exchange in the recording.
    ///   - exchange: Makes the exchange.
    /// - Returns: The stored response; nil when the exchange is not stored.
    /// - Throws: `StoreError` when the store does not work.
    @discardableResult
    mutating func take(
        _ url: String,
        at place: ImportReport.Place,
        _ exchange: () throws(ImportRefusal) -> ArchivedExchange
    ) async throws(StoreError) -> Stored? {
        let archived: ArchivedExchange
        let asked: StoredHead
        do {
            archived = try exchange()
            asked = try archived.prepared(options, maximumAge: store.limits.maximumAge, now: now)
        } catch {
            skip(url, at: place, error)
            return nil
        }
        guard archived.body.count <= store.largestBody else {
            skip(
                url,
                at: place,
                ImportRefusal(.tooLarge, "the body has \(archived.body.count) bytes, more than the cache keeps")
            )
            return nil
        }
        let head = asked.under(asked.key.storing(asked.headerFields))
        if let newer = await newerCapture(than: archived, head) {
            skip(url, at: place, ImportRefusal(.older, "the cache has a newer response, of \(Timestamp.text(newer))"))
            return nil
        }
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
            note(archived, head)
            return Stored(key: head.key, id: id, body: archived.body)
        } catch  where error.code == .tooLarge || error.code == .abandoned {
            skip(
                url,
                at: place,
                ImportRefusal(.tooLarge, "the body has \(archived.body.count) bytes, more than the cache keeps")
            )
            return nil
        }
    }

    mutating func skip(_ url: String, at place: ImportReport.Place, _ refusal: ImportRefusal) {
        report.skipped.append(
            ImportReport.Skipped(place: place, url: url, reason: refusal.reason, detail: refusal.detail)
        )
    }

    /// Adds the warnings of a reader.
    mutating func warn(_ warnings: [ImportReport.Warning]) { report.warnings = warnings }

    /// The time of the stored response, if it is newer than a capture that would replace it.
    ///
    /// A capture without a time replaces any, and so does one that counts as received now, unless this import has stored
    /// a newer capture.
    private func newerCapture(than archived: ArchivedExchange, _ head: StoredHead) async -> Date? {
        guard let captured = archived.captured else { return nil }
        let known = captures[Variant(key: head.key, vary: head.vary)]
        guard known != nil || options.time == .recorded else { return nil }
        var newest = known
        if newest == nil {
            newest = await store.lookup(head.key).first { $0.head.isComplete && $0.head.vary == head.vary }?
                .head.responseTime
        }
        // Stored times are rounded.
        guard let newest, newest.timeIntervalSince(captured) > 0.001 else { return nil }
        return newest
    }

    /// Notes the time of capture of a response, if its stored time is another one.
    private mutating func note(_ archived: ArchivedExchange, _ head: StoredHead) {
        let captured = archived.captured ?? .distantPast
        let variant = Variant(key: head.key, vary: head.vary)
        let isStored = abs(head.responseTime.timeIntervalSince(captured)) < 0.001
        captures[variant] = isStored ? nil : captured
    }

    /// Stores the exchanges of a HAR.
    ///
    /// - Parameters:
    ///   - archive: The HAR.
    ///   - folder: The folder of its file; nil if bodies that are files of their own cannot be read.
    /// - Throws: `StoreError` when the store does not work.
    mutating func take(_ archive: HARArchive, in folder: URL?) async throws(StoreError) {
        let limit = options.maximumEntrySize.bytes
        for (index, entry) in archive.entries.enumerated() {
            let place = ImportReport.Place(number: index + 1, offset: nil)
            try await take(entry.request.url, at: place) { () throws(ImportRefusal) in
                try entry.archived(in: folder, limit: limit)
            }
        }
    }

    /// Stores the exchanges of a HAR file, one after the other.
    ///
    /// - Parameters:
    ///   - reader: The reader of the file.
    ///   - folder: The folder of the file.
    /// - Throws: ``RecordingError`` when the file is damaged: the responses before the damage are stored. `StoreError` when
    ///   the store does not work.
    mutating func take(_ reader: HARReader, in folder: URL) async throws {
        defer { warn(reader.warnings) }
        var freed = 0
        while let next = try element(reader, in: folder) {
            if reader.offset - freed > FreedMemory.interval {
                freed = reader.offset
                FreedMemory.giveBack()
            }
            try await take(next.url, at: next.place) { () throws(ImportRefusal) in try next.exchange.get() }
        }
    }

    /// The next element of a HAR as an exchange; its text is not needed any more while the body is stored.
    private func element(
        _ reader: HARReader,
        in folder: URL
    ) throws(RecordingError) -> (
        url: String, place: ImportReport.Place, exchange: Result<ArchivedExchange, ImportRefusal>
    )? {
        guard let item = try reader.next() else { return nil }
        let limit = options.maximumEntrySize.bytes
        switch item.content {
        case .entry(let entry):
            do throws(ImportRefusal) {
                return (entry.request.url, item.place, .success(try entry.archived(in: folder, limit: limit)))
            } catch { return (entry.request.url, item.place, .failure(error)) }
        case .unusable(let url, let reason):
            return (url, item.place, .failure(ImportRefusal(.damagedEntry, reason)))
        case .tooLarge(let bytes):
            let reason = "the entry has \(bytes) bytes, but \(limit) are allowed"
            return ("", item.place, .failure(ImportRefusal(.tooLarge, reason)))
        }
    }
}

/// Memory that was freed.
///
/// The C library keeps it for later, in an arena for each thread, so an import of large bodies, which changes threads with
/// each of them, would hold several times what it uses.
private enum FreedMemory {
    /// The number of bytes of a file after which memory is given back: 512 KiB.
    static let interval = 512 << 10

    private typealias Trim = @convention(c) @Sendable (_ kept: Int) -> Int32

    /// `malloc_trim` of the GNU C library; nil with another one.
    private static let trim = SharedLibrary("libc.so.6")?.function("malloc_trim", as: Trim.self)

    /// Gives the memory back to the system.
    static func giveBack() { _ = trim?(0) }
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
    /// The largest entry of a HAR, as JSON, and the largest file with a body beside it; 64 MiB by default.
    ///
    /// A larger entry is skipped. The file itself may have any size: one entry at a time is in memory.
    public var maximumEntrySize = ByteCount.mebibytes(64)
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
        case archive(FileSource)
        case records(WARCImport, [any ByteSource])
    }

    private let contents: Contents
    private let folder: URL
    private let options: ImportOptions

    /// Reads the first entry of a HAR, or makes the first of two passes over a WARC.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be read, and when it is damaged before its first entry or
    ///   response.
    package init(at file: URL, options: ImportOptions) throws(RecordingError) {
        self.options = options
        folder = file.deletingLastPathComponent()
        let source: FileSource
        do { source = try FileSource(file) } catch {
            throw RecordingError(.unreadable, "\(file.path) cannot be opened", cause: error)
        }
        let input = try RecordInput(source)
        if try input.peek(4).elementsEqual(WACZReader.beginning) {
            let records = try WACZReader(source, file).warcs(areChecked: true).map(\.source)
            contents = .records(try WARCImport(records, options.warc), records)
            return
        }
        let beginning = try input.beginning()
        if beginning.hasPrefix("{") {
            // The first entry is read, and read again when it is stored.
            _ = try HARReader(source, maximumEntrySize: options.maximumEntrySize).next()
            contents = .archive(source)
            return
        }
        guard beginning.hasPrefix("WARC/") else { throw RecordingError.unknownFormat(file) }
        contents = .records(try WARCImport([source], options.warc), [source])
    }

    /// Imports the recording into a store.
    ///
    /// - Returns: The result for each exchange.
    /// - Throws: ``RecordingError`` when the file is damaged; the responses before the damage are stored. `StoreError` when
    ///   the store does not work.
    package func stored(in store: ResponseStore) async throws -> ImportReport {
        var recording = RecordingImport(store, options)
        switch contents {
        case .archive(let source):
            let reader = try HARReader(source, maximumEntrySize: options.maximumEntrySize)
            try await recording.take(reader, in: folder)
        case .records(var records, let sources): try await records.run(sources, into: &recording)
        }
        return recording.report
    }
}

extension ResponseCache {
    /// Imports a recording into the cache, so that its pages load without a network.
    ///
    /// The file's content decides whether it is a HAR, a WARC or a WACZ, and whether it is compressed by gzip or Zstandard.
    ///
    /// Each response to a GET with a status of 2xx or 3xx is stored under its canonical URL, as a rule with
    /// `.cacheFirst(for:)` stores it: decoded, with its `Vary`, and replacing an older response that is stored there.
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
    ///   stored. `StoreError` when the cache does not work.
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
    /// The file's content decides whether it is a HAR, a WARC or a WACZ, and whether it is compressed by gzip or Zstandard.
    ///
    /// - Parameters:
    ///   - file: The recording.
    ///   - options: The choices for importing it.
    /// - Returns: The result for each exchange.
    /// - Throws: ``RecordingError`` when the file cannot be read or is damaged: the responses before the damage are
    ///   stored. `StoreError` when the store does not work.
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
