import Foundation
import WaystationHTTP

/// The purges of the index, and the rows that they select.
extension StoreIndex {
    /// The table of purges; it was added with version 3.
    ///
    /// A number is never given to a second purge, so the highest one shows whether something was purged since.
    static let purgeTable = """
        CREATE TABLE purges (
            id      INTEGER PRIMARY KEY AUTOINCREMENT,
            origin  TEXT NOT NULL,
            name    TEXT NOT NULL,
            is_soft INTEGER NOT NULL,
            newest  INTEGER NOT NULL,
            time    INTEGER NOT NULL,
            UNIQUE (origin, name, is_soft)
        );

        """

    /// Writes purges of all rows that are stored now, in one transaction.
    func write(_ orders: [(order: Purge.Order, time: Date)]) throws {
        let known = try change { db -> ([Purge], Int64)? in
            // Without a response, there is nothing to purge.
            guard let newest = try db.integer("SELECT max(id) FROM responses") else { return nil }
            let latest = try db.integer("SELECT max(response_time) FROM responses") ?? .min
            let statement = try db.statement(
                "INSERT OR REPLACE INTO purges (origin, name, is_soft, newest, time) VALUES (?, ?, ?, ?, ?)"
            )
            for (order, time) in orders {
                let (origin, name) = order.label.columns
                try statement.run([
                    .text(origin), .text(name), .integer(order.kind == .soft ? 1 : 0), .integer(newest),
                    .integer(max(time.microseconds, latest)),
                ])
            }
            return (try Self.purges(db), try Self.lastPurge(db))
        }
        if let (present, last) = known { purges.learn(present, last: last, own: Set(orders.map(\.order))) }
    }

    /// Removes those of the next rows that hard purges select.
    ///
    /// - Parameters:
    ///   - id: The identifier of the last row that was looked at.
    ///   - limit: The number of rows to look at.
    /// - Throws: A `SQLiteError`.
    /// - Returns: The removal, and the last row that was looked at; nil if no row is left.
    func removePurged(after id: Int64, limit: Int) throws -> (removal: Removal, last: Int64?) {
        try change { db in
            guard let newest = try db.integer("SELECT max(newest) FROM purges WHERE is_soft = 0") else {
                return (Removal(), nil)
            }
            var (ids, count, last): ([Int64], Int, Int64) = ([], 0, id)
            try db.statement(
                "SELECT id, url, request_time, fields FROM responses WHERE id > ? AND id <= ? ORDER BY id LIMIT ?"
            ).forEachRow([.integer(id), .integer(newest), .integer(Int64(limit))]) { row in
                count += 1
                guard let id = row.integer(0) else { return }
                last = id
                guard let url = row.text(1), let time = row.integer(2) else { return }
                let labels = row.withBytes(3) { Self.labels($0, url: url) } ?? []
                if purges.effect(on: id, requestTime: Date(microseconds: time), labels) == .removed { ids.append(id) }
            }
            var removal = Removal()
            for id in ids { removal.formUnion(try Self.remove(.id(id), db)) }
            return (removal, count < limit ? nil : last)
        }
    }

    /// Removes the purges that select no row any more.
    ///
    /// - Parameter id: The rows of the hard purges up to this number are removed.
    /// - Throws: A `SQLiteError`.
    func dropPurges(through id: Int64) throws {
        let (present, last) = try change { db in
            try db.statement(
                """
                DELETE FROM purges WHERE (is_soft = 0 AND id <= ?)
                    OR newest < (SELECT coalesce(min(id), 9223372036854775807) FROM responses)
                """
            ).run([.integer(id)])
            return (try Self.purges(db), try Self.lastPurge(db))
        }
        purges.learn(present, last: last)
    }

    /// Reads the purges that other processes have made.
    func learnPurges() throws { try writer.use(learnPurges) }

    func learnPurges(_ db: Database) throws {
        // A purge that is made in between has a higher number, and is learned once more the next time.
        let last = try Self.lastPurge(db)
        purges.learn(try Self.purges(db), last: last)
    }

    /// The highest number that a purge has had.
    static func lastPurge(_ db: Database) throws -> Int64 {
        // Damage may have changed either of them.
        let numbers = [
            try db.integer("SELECT seq FROM sqlite_sequence WHERE name = 'purges'"),
            try db.integer("SELECT max(id) FROM purges"),
        ]
        return numbers.compactMap(\.self).max() ?? 0
    }

    /// All purges.
    static func purges(_ db: Database) throws -> [Purge] {
        var purges: [Purge] = []
        try db.statement("SELECT id, origin, name, is_soft, newest, time FROM purges").forEachRow { row in
            guard let id = row.integer(0), let origin = row.text(1), let name = row.text(2),
                let isSoft = row.integer(3), let newest = row.integer(4), let time = row.integer(5)
            else { return }
            purges.append(
                Purge(
                    order: Purge.Order(
                        label: origin.isEmpty ? .tag(name) : .group(name, origin: origin),
                        kind: isSoft == 0 ? .hard : .soft
                    ),
                    id: id,
                    newest: newest,
                    time: Date(microseconds: time)
                )
            )
        }
        return purges
    }

    /// The labels of a row, by its fields.
    static func labels(_ fields: UnsafeRawBufferPointer, url: String) -> Set<ResponseLabel> {
        ResponseLabel.labels(
            tags: FieldSection.lines(of: LabelFields.tags, in: fields),
            groups: FieldSection.lines(of: LabelFields.groups, in: fields),
            url: url
        )
    }

    /// Reads rows, and returns them as the purges leave them: without those that a hard purge selects.
    ///
    /// - Parameter read: Reads the rows, and the number of the last purge that the index had then.
    /// - Returns: The rows that no hard purge selects; `nil` if `read` returns `nil`, and if the known purges are not those
    ///   of the moment of the read: a purge that is not known yet, or that has ended since, may select some of the rows.
    func usable(_ read: () throws -> (found: [Found], lastPurge: Int64)?) rethrows -> [Found]? {
        let ended = purges.ended
        // Whether all purges are known is asked before they are applied: another look-up may learn of one in between.
        guard let (found, lastPurge) = try read(), lastPurge == 0 || lastPurge <= purges.last else { return nil }
        let rows = usable(found)
        return ended == purges.ended ? rows : nil
    }

    private func usable(_ rows: [Found]) -> [Found] {
        guard !purges.isEmpty else { return rows }
        return rows.compactMap { row in
            guard case .intact(var record) = row else { return row }
            switch purges.effect(on: record.id, record.head) {
            case .none: return row
            case .removed: return nil
            case .stale(let time):
                record.head.staleFrom = time
                // The object that a caller has derived from the head, such as a finished hit, relies on its lifetime.
                record.prepared = PreparedValue()
                return .intact(record)
            }
        }
    }
}

extension ResponseLabel {
    /// The label's columns in the table of purges: a tag has no origin.
    fileprivate var columns: (origin: String, name: String) {
        switch self {
        case .tag(let name): ("", name)
        case .group(let name, let origin): (origin, name)
        }
    }
}
