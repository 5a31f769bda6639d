import Foundation
import GRDB
import SiteTools
import Synchronization

/// The crawl's memory on disk: `crawl.sqlite`, which `sqlite3` can open too.
///
/// The journal is written in the background: entries are recorded in memory at once, and one writer puts all gathered
/// entries into one transaction, after the archive has their responses on disk. So the crawl never waits for the disk,
/// and after a kill at any moment the journal names no response that the archive lacks. A document's row and its links
/// are written together, so a restart never sees only a part of them.
///
/// ```
/// setting(key, value)                       -- the settings of the crawl, as JSON
/// origin(origin, status, robots, error)     -- robots.txt of each origin
/// resource(id, url, kind, depth, state, …)  -- one row a URL, see `Resource` and `LoadRecord`
/// link(source, target, kind)                -- the links between documents
/// run(id, startedAt, endedAt, reason)       -- a crawl and its continuations
/// offline(resource, verdict, detail)        -- the last offline check
/// ```
final class Journal: Sendable {
    enum Entry: Sendable {
        case found(Resource)
        /// A known resource that is now wanted, or is wanted in another way.
        case changed(Resource)
        case finished(LoadRecord)
        case links(source: Int, [(target: Int, kind: LinkKind)])
        case robots(origin: String, status: Int?, body: Data, error: String?)
    }

    let database: DatabaseQueue
    private let pending = PendingEntries()
    private let wake: AsyncStream<Void>.Continuation
    private let writer: Task<Void, Never>

    /// Opens the journal of a crawl, and creates its directory if it is missing.
    ///
    /// `settleArchive` returns when every response so far is on disk; the writer waits for it before each transaction.
    /// A transaction fails if another program holds the database for `busyTimeout` seconds.
    static func open(
        in directory: URL,
        busyTimeout: TimeInterval = 5,
        settleArchive: @escaping @Sendable () async -> Void = {}
    ) throws -> Journal {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return try Journal(
            path: directory.appending(path: "crawl.sqlite").path,
            busyTimeout: busyTimeout,
            settleArchive: settleArchive
        )
    }

    static func exists(in directory: URL) -> Bool {
        FileManager.default.fileExists(atPath: directory.appending(path: "crawl.sqlite").path)
    }

    private init(path: String, busyTimeout: TimeInterval, settleArchive: @escaping @Sendable () async -> Void) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        }
        configuration.busyMode = .timeout(busyTimeout)
        database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write { try JournalSchema.create(in: $0) }

        let (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        wake = continuation
        writer = Task { [database, pending] in
            for await _ in wakes { await pending.write(to: database, after: settleArchive) }
            await pending.write(to: database, after: settleArchive)
        }
    }

    func note(_ entries: [Entry]) {
        guard !entries.isEmpty else { return }
        pending.append(entries)
        wake.yield()
    }

    /// Writes the recorded entries and ends the writer.
    ///
    /// Do not call `note` afterwards. Throws the error that prevented the journal from being written at any time.
    func close() async throws {
        wake.finish()
        await writer.value
        try check()
    }

    /// Throws the error that stopped the writing of the journal, if there is one.
    ///
    /// After the first error nothing more is written. A crawl that is started again continues from the state before it.
    ///
    /// - Throws: The error that prevents the journal from being written, such as a full disk.
    func check() throws {
        if let failure = pending.failure { throw failure }
    }
}

/// The entries that are not yet on disk.
private final class PendingEntries: Sendable {
    private struct State {
        var entries: [Journal.Entry] = []
        var failure: (any Error)?
    }

    private let state = Mutex(State())

    var failure: (any Error)? { state.withLock { $0.failure } }

    func append(_ entries: [Journal.Entry]) {
        state.withLock { $0.entries.append(contentsOf: entries) }
    }

    func write(to database: DatabaseQueue, after settleArchive: () async -> Void) async {
        let entries = state.withLock { state in
            defer { state.entries = [] }
            return state.failure == nil ? state.entries : []
        }
        guard !entries.isEmpty else { return }
        await settleArchive()
        do {
            try await database.write { database in
                for entry in entries { try entry.write(to: database) }
            }
        } catch {
            state.withLock { $0.failure = error }
        }
    }
}
