import Foundation
import GRDB
import SiteTools
import Synchronization
import Testing
import WaystationRules

@testable import Crawler

@Suite("Journal")
struct JournalTests {
    @Test(
        "nothing is written before the archive has settled: after a kill it has every response in the journal"
    )
    func order() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "crawler-tests-\(UUID().uuidString)",
            directoryHint: .isDirectory
        )
        defer { try? FileManager.default.removeItem(at: directory) }
        let seen = Counts()
        let path = directory.appending(path: "crawl.sqlite").path
        let journal = try Journal.open(in: directory) {
            let count = try? await DatabaseQueue(path: path).read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM resource")
            }
            seen.append(count ?? -1)
        }
        let url = try #require(CanonicalURL(page: "https://example.org/"))
        journal.note([.found(Resource(id: 0, url: url, kind: .start, depth: 0, state: .queued))])
        try await journal.close()
        #expect(seen.values == [0])
        #expect(try journal.resources().map(\.url) == [url])
    }
}

private final class Counts: Sendable {
    private let counts = Mutex<[Int]>([])

    var values: [Int] { counts.withLock { $0 } }
    func append(_ count: Int) { counts.withLock { $0.append(count) } }
}
