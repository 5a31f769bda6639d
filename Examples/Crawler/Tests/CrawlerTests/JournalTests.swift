import Foundation
import GRDB
import SiteTools
import Synchronization
import Testing
import WaystationHTTP

@testable import Crawler

@Suite("Journal")
struct JournalTests {
    private let folder = TemporaryFolder()
    private var directory: URL { folder.url }

    private func resource(_ id: Int) throws -> Resource {
        let url = try #require(CanonicalURL(page: "https://example.org/\(id)"))
        return Resource(id: id, url: url, kind: .page, depth: 0, state: .queued)
    }

    @Test(
        "nothing is written before the archive has settled: after a kill it has every response in the journal"
    )
    func order() async throws {
        let seen = Counts()
        let path = directory.appending(path: "crawl.sqlite").path
        let journal = try Journal.open(in: directory) {
            let count = try? await DatabaseQueue(path: path).read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM resource")
            }
            seen.append(count ?? -1)
        }
        journal.note([.found(try resource(0))])
        try await journal.close()
        #expect(seen.values == [0])
        #expect(try journal.resources().map(\.url) == [resource(0).url])
    }

    @Test("nothing is written after entries that could not be written, so that ids have no gaps")
    func locked() async throws {
        let journal = try Journal.open(in: directory, busyTimeout: 0)
        journal.note([.found(try resource(0))])
        while try journal.resources().isEmpty { await Task.yield() }

        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let path = directory.appending(path: "crawl.sqlite").path
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        journal.note([.found(try resource(1))])
        while (try? journal.check()) != nil { await Task.yield() }
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }

        journal.note([.found(try resource(2))])
        await #expect(throws: DatabaseError.self) { try await journal.close() }
        #expect(try journal.resources().map(\.id) == [0])
    }

    @Test("the encoding of a link is kept, also in a journal that had no room for it")
    func linkCharset() async throws {
        let first = try Journal.open(in: directory)
        first.note([.found(try resource(0))])
        try await first.close()
        try await first.database.write { try $0.execute(sql: "ALTER TABLE resource DROP COLUMN linkCharset") }

        let second = try Journal.open(in: directory)
        var found = try resource(1)
        found.linkCharset = "GBK"
        var changed = try resource(0)
        changed.linkCharset = "Big5"
        second.note([.found(found), .changed(changed)])
        try await second.close()
        #expect(try second.resources().map(\.linkCharset) == ["Big5", "GBK"])
    }

    @Test("a crawl does not continue with a journal that lacks a resource", arguments: [[1], [0, 2]])
    func gap(ids: [Int]) async throws {
        let journal = try Journal.open(in: directory)
        journal.note(try ids.map { .found(try resource($0)) })
        try await journal.close()
        let settings = CrawlSettings()
        let session = try SiteSession(.offline, directory: directory, settings: settings)
        let crawl = try Crawl(
            settings: settings,
            journal: Journal.open(in: directory),
            loader: session.loader,
            observer: CrawlPrinter(terminal: Terminal(), isQuiet: true)
        )
        let error = await #expect(throws: Journal.MissingResource.self) { try await crawl.run() }
        #expect(error?.localizedDescription.contains("resource \(ids == [1] ? 0 : 1) is missing") == true)
        await session.settle()
    }
}

/// A folder that exists as long as its test.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(
        path: "crawler-tests-\(UUID().uuidString)",
        directoryHint: .isDirectory
    )

    deinit { try? FileManager.default.removeItem(at: url) }
}

private final class Counts: Sendable {
    private let counts = Mutex<[Int]>([])

    var values: [Int] { counts.withLock { $0 } }
    func append(_ count: Int) { counts.withLock { $0.append(count) } }
}
