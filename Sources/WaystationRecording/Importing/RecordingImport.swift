import Foundation
import HTTPTypes
import WaystationStorage

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
        let head: StoredHead
        do {
            archived = try exchange()
            head = try archived.prepared(options, maximumAge: store.limits.maximumAge, now: now)
        } catch {
            skip(url, error)
            return nil
        }
        guard archived.body.count <= store.largestBody else {
            skip(url, ImportRefusal(.tooLarge, "the body has \(archived.body.count) bytes, more than the cache keeps"))
            return nil
        }
        guard let writer = store.begin(head) else { throw store.refusesWrites }
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
