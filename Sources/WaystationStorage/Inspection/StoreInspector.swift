public import Foundation
import WaystationFileSystem

/// Reads a store without changing it: nothing is made, migrated, evicted or repaired.
///
/// Unlike ``ResponseStore`` it throws errors, blocks its caller, and reads stores of every version up to the current
/// one. Apps may use the store meanwhile. Safe to use from any thread.
public final class StoreInspector: Sendable {
    /// The directory that holds the store.
    public let directory: URL

    let index: StoreIndex
    let layout: StoreLayout
    let fileSystem: any FileSystem

    /// Opens an existing store.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/notAStore`` when the directory contains no store (nothing is made in
    ///   it then), ``StoreError/Code/newerVersion``, ``StoreError/Code/damaged``, or ``StoreError/Code/unavailable``.
    public init(directory: URL) throws(StoreError) {
        let environment = StoreEnvironment()
        let layout = StoreLayout(directory: directory)
        do {
            index = try StoreIndex(reading: layout.index, environment: environment)
        } catch {
            throw Self.error(error, layout)
        }
        self.directory = directory
        self.layout = layout
        fileSystem = environment.fileSystem
    }

    deinit { index.close() }

    /// The number of responses, and the bytes that they take together.
    public func totals() throws(StoreError) -> (entries: Int, bytes: Int) {
        try reading { try index.totals() }
    }

    /// The responses of a scope, sorted by URL.
    ///
    /// Rows that cannot be read at all are left out; ``verify()`` reports them.
    public func entries(in scope: ResponseScope = .all) throws(StoreError) -> [StoredEntry] {
        try reading { try index.entries(.scope(scope)).compactMap(\.entry) }
    }

    /// The response with an identifier; `nil` when it is no longer stored, or when its row cannot be read at all.
    package func entry(_ id: Int64) throws(StoreError) -> StoredEntry? {
        try reading { try index.entries(.id(id)).first?.entry }
    }

    /// A response with its header fields and its body.
    ///
    /// - Returns: `nil` when the response is no longer stored.
    /// - Throws: ``StoreError``: ``StoreError/Code/damaged`` when the response differs from what was stored.
    public func response(_ entry: StoredEntry) throws(StoreError) -> StoredResponse? {
        try reading {
            for row in try index.rows(for: entry.key) {
                switch row {
                case .damaged(let id) where id == entry.id: throw IndexError.damaged("has a row with changed bytes")
                case .intact(let record) where record.id == entry.id:
                    return StoredResponse(record, body: try body(of: record))
                default: break
                }
            }
            return nil
        }
    }

    private func body(of record: IndexRecord) throws -> StoredBody {
        switch record.body {
        case .inline(let data): return .data(data)
        case .file(let name):
            guard let path = layout.body(name) else { throw IndexError.damaged("has an invalid body file name") }
            let file = try fileSystem.openFile(path)
            return .file(
                StoredBodyFile(
                    length: record.bodyLength,
                    file: file,
                    fileSystem: fileSystem,
                    checksums: record.checksums,
                    open: { file },
                    onDamage: { _, _ in }
                )
            )
        }
    }

    func reading<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
        do { return try body() } catch { throw Self.error(error, layout) }
    }

    private static func error(_ error: any Error, _ layout: StoreLayout) -> StoreError {
        switch error {
        case let error as StoreError: return error
        case IndexError.noIndex:
            return StoreError(.notAStore, "\(layout.root) contains no store: give the directory of an app's cache")
        case IndexError.newerSchema: return StoreError(.newerVersion, "\(layout.index): \(error)")
        case let error as FileError where error.code == ENOENT:
            return StoreError(.damaged, "a body file is missing", cause: error)
        default: break
        }
        switch StoreFailure(error) {
        // A file that is not a database was never an index.
        case .damaged where "\(error)".contains("SQLite error 26"):
            return StoreError(.notAStore, "\(layout.index) is not the index of a store", cause: error)
        case .damaged:
            return StoreError(
                .damaged,
                "\(layout.index) is damaged: the next app that opens it replaces it",
                cause: error
            )
        default: return StoreError(.unavailable, "\(layout.root) cannot be read", cause: error)
        }
    }
}
