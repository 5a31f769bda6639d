public import Foundation
import WaystationFileSystem

/// Reads a store without changing it: nothing is made, migrated, evicted or repaired.
///
/// Unlike ``ResponseStore`` it tells errors, blocks its caller, and reads stores of every version up to this one. Apps
/// may use the store meanwhile. Safe to use from any thread.
public final class StoreInspector: Sendable {
    /// The directory that holds the store.
    public let directory: URL

    let index: StoreIndex
    let layout: StoreLayout
    let fileSystem: any FileSystem

    /// Opens a store that is there.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/notAStore`` when the directory holds none (nothing is made in it
    ///   then), ``StoreError/Code/newerVersion``, ``StoreError/Code/damaged``, or ``StoreError/Code/unavailable``.
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

    /// How many responses there are, and how many bytes they take together.
    public func totals() throws(StoreError) -> (entries: Int, bytes: Int) {
        try reading { try index.totals() }
    }

    /// The responses of a scope, in the order of their URLs.
    ///
    /// Rows that cannot be read at all are left out; ``verify()`` tells them.
    public func entries(in scope: ResponseScope = .all) throws(StoreError) -> [StoredEntry] {
        try reading { try index.entries(.scope(scope)).compactMap(\.entry) }
    }

    /// A response with its fields and its body.
    ///
    /// - Returns: `nil` when it is no longer there.
    /// - Throws: ``StoreError``: ``StoreError/Code/damaged`` when it is not what was stored.
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
            guard let path = layout.body(name) else { throw IndexError.damaged("names a body file that is none") }
            let file = try fileSystem.openFile(path)
            return .file(
                StoredBodyFile(
                    length: record.bodyLength,
                    file: file,
                    fileSystem: fileSystem,
                    checksums: record.checksums,
                    onDamage: { _ in }
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
            return StoreError(.notAStore, "\(layout.root) holds no store: give the directory that an app's cache is in")
        case IndexError.newerSchema: return StoreError(.newerVersion, "\(layout.index): \(error)")
        case let error as FileError where error.code == ENOENT:
            return StoreError(.damaged, "a body file is not there", cause: error)
        default: break
        }
        switch StoreFailure(error) {
        // What is no database was never an index.
        case .damaged where "\(error)".contains("SQLite error 26"):
            return StoreError(.notAStore, "\(layout.index) is no index of a store", cause: error)
        case .damaged:
            return StoreError(
                .damaged,
                "\(layout.index) is damaged: the app that opens it next begins it anew",
                cause: error
            )
        default: return StoreError(.unavailable, "\(layout.root) cannot be read", cause: error)
        }
    }
}
