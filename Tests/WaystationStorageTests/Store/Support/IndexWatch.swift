import CWaystation.SQLite
import Synchronization

@testable import WaystationStorage

/// Observes the statements of a store's writing connection, and fails those that the test selects.
final class IndexWatch: Sendable {
    private let count = Mutex(0)
    private let refused = Mutex<String?>(nil)
    private let commits = Mutex<[Bool]>([])

    /// The number of transactions that began.
    var transactions: Int {
        get { count.withLock { $0 } }
        set { count.withLock { $0 = newValue } }
    }

    /// Whether each commit gave way to other threads.
    var commitsGivingWay: [Bool] { commits.withLock { $0 } }

    /// Makes writing a row of this URL fail with a disk error; `nil` ends that.
    func refuse(_ key: RequestKey?) { refused.withLock { $0 = key?.url } }

    func watch(_ environment: inout StoreEnvironment) {
        environment.prepareConnection = { [self] db in
            db.trace { [self] statement in
                if statement.hasPrefix("BEGIN") { transactions += 1 }
                if statement.hasPrefix("COMMIT") { commits.withLock { $0.append(waystation_sqlite_gives_way()) } }
            }
            db.addCheck("refuse") { [self] url in url == refused.withLock { $0 } ? SQLITE_IOERR : SQLITE_OK }
            guard try db.integer("SELECT 1 FROM sqlite_schema WHERE name = 'responses'") != nil else { return }
            try db.execute(
                """
                CREATE TEMP TRIGGER refuse_new BEFORE INSERT ON responses BEGIN SELECT refuse(NEW.url); END;
                CREATE TEMP TRIGGER refuse_changed BEFORE UPDATE ON responses BEGIN SELECT refuse(NEW.url); END;
                """
            )
        }
    }
}
