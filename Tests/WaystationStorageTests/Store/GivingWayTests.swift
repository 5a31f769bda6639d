import CWaystation.SQLite
import Foundation
import HTTPTypes
import Testing
import WaystationTestSupport

@testable import WaystationStorage

@Suite("Giving way", .timeLimit(.minutes(10)))
struct GivingWayTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// Whether some work on this thread gives way.
    ///
    /// It does so only in its first 20 ms, in which a busy machine may not run the thread. So work that should give way is
    /// repeated until it does.
    private func givesWay(shouldGiveWay: Bool, _ work: () throws -> Void) rethrows -> Bool {
        for _ in 0..<(shouldGiveWay ? 100 : 1) {
            // A count of the work before does not count for this one.
            waystation_sqlite_set_mode(waystation_sqlite_giving_way)
            waystation_sqlite_set_mode(waystation_sqlite_plain)
            try work()
            if waystation_sqlite_pauses() > 0 { return true }
        }
        return false
    }

    @Test("happens in SQLite's own writes, in its mode only", arguments: [true, false])
    func writes(isGivingWay: Bool) throws {
        #expect(SQLiteMode.areAvailable)
        let queue = try Connection(Database(path: fixture.directory.path + "/database"))
        try queue.use { try $0.execute("CREATE TABLE bytes (content BLOB)") }
        let mode = isGivingWay ? waystation_sqlite_giving_way : waystation_sqlite_plain
        let givesWay = try givesWay(shouldGiveWay: isGivingWay) {
            try SQLiteMode.perform(in: mode) {
                try queue.use { try $0.execute("INSERT INTO bytes VALUES (zeroblob(4000000))") }
            }
        }
        #expect(givesWay == isGivingWay)
    }

    @Test("happens between the rows of a transaction that gives way", arguments: [true, false])
    func rows(isGivingWay: Bool) throws {
        let index = try StoreIndex(path: fixture.directory.path + "/index.sqlite", environment: StoreEnvironment())
        defer { index.close() }
        let head = StoredHead(
            key: .get("a"),
            status: 200,
            headerFields: [:],
            vary: .none,
            requestTime: Date(),
            responseTime: Date()
        )
        let row = EncodedRow(head, bodyLength: 0, bodyFile: nil, checksums: BlockChecksums(of: Data()))
        // There is no such row, so SQLite writes nothing.
        let changes = (0..<2_000).map { _ in Result<RowChange, StoreError>.success(.update(id: 7, row)) }
        let givesWay = try givesWay(shouldGiveWay: isGivingWay) {
            _ = try index.write(changes, maximumVariants: 8, givesWay: isGivingWay)
        }
        #expect(givesWay == isGivingWay)
    }
}
