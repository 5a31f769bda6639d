import Foundation
import WaystationCaching

extension StoreIndex {
    /// The rows that a change removed, for code that holds copies or files of them.
    struct Removal: Sendable {
        var keys: Set<RequestKey> = []
        var files: [String] = []
        var count = 0
        /// Whether selected rows may be left.
        var isPartial = false
        /// How much the removal has reduced the store's size; a body that other rows still name is not included.
        var bytes = 0

        mutating func formUnion(_ other: Removal) {
            keys.formUnion(other.keys)
            files += other.files
            count += other.count
            bytes += other.bytes
        }
    }

    /// The rows to remove.
    struct Selection {
        let condition: String
        let arguments: [Statement.Argument]

        static func id(_ id: Int64) -> Selection { Selection(condition: "id = ?", arguments: [.integer(id)]) }

        static func file(_ name: String) -> Selection {
            Selection(condition: "body_file = ?", arguments: [.text(name)])
        }

        static func older(than date: Date) -> Selection {
            Selection(condition: "response_time < ?", arguments: [.integer(date.microseconds)])
        }

        static func scope(_ scope: ResponseScope) -> Selection {
            var conditions: [String] = []
            var arguments: [Statement.Argument] = []
            switch scope.urls {
            case .all: break
            case .one(let url):
                conditions.append("url = ?")
                arguments.append(.text(url))
            case .prefixes(let prefixes):
                // Ranges can use the index on URLs. A canonical URL never contains U+10FFFF, which sorts after every
                // character that it can contain.
                conditions.append("(\(prefixes.map { _ in "(url >= ? AND url < ?)" }.joined(separator: " OR ")))")
                arguments += prefixes.flatMap { [.text($0), .text($0 + "\u{10FFFF}")] }
            }
            if let partition = scope.partition {
                conditions.append("partition = ?")
                arguments.append(.text(partition))
            }
            if !scope.partitionPrefix.isEmpty {
                conditions.append("(partition >= ? AND partition < ?)")
                arguments += [scope.partitionPrefix, scope.partitionPrefix + "\u{10FFFF}"].map(Statement.Argument.text)
            }
            return Selection(
                condition: conditions.isEmpty ? "1" : conditions.joined(separator: " AND "),
                arguments: arguments
            )
        }
    }

    /// Runs changes in one transaction, while no other process writes.
    func change<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try writer.use { db in
            let (state, result) = try db.transaction { (keys.begin(), try body(db)) }
            keys.committed(after: state)
            return result
        }
    }

    /// Removes the selected rows, in several transactions, so that other processes can write in between.
    ///
    /// Rows that are added meanwhile stay.
    func remove(_ selection: Selection) throws -> Removal {
        let newest = try writer.use { try $0.integer("SELECT max(id) FROM responses") }
        let bounded = Selection(
            condition: "(\(selection.condition)) AND id <= ?",
            arguments: selection.arguments + [.integer(newest ?? 0)]
        )
        var removal = Removal()
        while true {
            let step = try change { try Self.remove(bounded, limit: 512, bytes: stepBytes, $0) }
            removal.formUnion(step)
            if !step.isPartial { return removal }
        }
    }

    /// Removes the rows with these identifiers, in one transaction.
    func remove(ids: [Int64]) throws -> Removal {
        try change { db in
            var removal = Removal()
            for id in ids { removal.formUnion(try Self.remove(.id(id), db)) }
            return removal
        }
    }

    /// Removes up to `limit` of the selected rows.
    func removeStep(_ selection: Selection, limit: Int) throws -> Removal {
        try change { try Self.remove(selection, limit: limit, bytes: stepBytes, $0) }
    }

    /// Removes up to `limit` of the least recently used rows, but not more than are needed to get down to the target.
    ///
    /// The target is a number of bytes of responses, and a number of bytes in use on disk (``Space/used``).
    ///
    /// A row whose last use is in the future was used before the clock was set back, and not since then: it counts as
    /// the least recently used.
    func evictStep(
        downTo target: (bytes: Int, used: Int),
        limit: Int,
        at time: Date
    ) throws -> (removal: Removal, isDone: Bool) {
        try change { db in
            func surplus() throws -> Int {
                let space = try Self.space(db)
                return max(space.bytes - target.bytes, space.used - target.used)
            }
            let surplusBefore = try surplus()
            guard surplusBefore > 0 else { return (Removal(), true) }
            // A row whose body other rows share frees less than its size: then another step is needed.
            var rest = min(surplusBefore, stepBytes)
            var ids: [Int64] = []
            // Two queries, so that each one can read its rows in the order of `responses_by_use`.
            for condition in ["last_used > ?", "last_used <= ?"] where rest > 0 {
                let select = "SELECT id, size FROM responses WHERE \(condition) ORDER BY last_used, id LIMIT ?"
                let arguments: [Statement.Argument] =
                    [.integer(Self.latestUse(at: time)), .integer(Int64(limit - ids.count))]
                try db.statement(select).forEachRow(arguments) { row in
                    guard rest > 0, let id = row.integer(0) else { return }
                    ids.append(id)
                    rest -= Int(clamping: row.integer(1) ?? 0)
                }
            }
            var removal = Removal()
            for id in ids { removal.formUnion(try Self.remove(.id(id), db)) }
            return (removal, try surplus() <= 0 || removal.count == 0)
        }
    }

    /// Records when rows were last used; rows that are gone are skipped.
    ///
    /// A use that another process has written is kept if it is later, unless it is in the future.
    func touch(_ uses: [Int64: Date], at time: Date) throws {
        guard !uses.isEmpty else { return }
        let latest = Self.latestUse(at: time)
        try change { db in
            let statement = try db.statement(
                "UPDATE responses SET last_used = max(CASE WHEN last_used > ? THEN 0 ELSE last_used END, ?) WHERE id = ?"
            )
            for (id, date) in uses {
                try statement.run([.integer(latest), .integer(min(date, time).microseconds), .integer(id)])
            }
        }
    }

    /// The latest time of last use that is possible, in microseconds; later ones are from before the clock was set back.
    ///
    /// Corrections by NTP set a clock back by less than a minute.
    private static func latestUse(at time: Date) -> Int64 { time.addingTimeInterval(60).microseconds }

    static func totalBytes(_ db: Database) throws -> Int {
        Int(clamping: try db.integer("SELECT bytes FROM totals") ?? 0)
    }

    static func delete(_ id: Int64, _ db: Database) throws {
        try db.statement("DELETE FROM responses WHERE id = ?").run([.integer(id)])
    }

    /// Removes selected rows until there are `limit` of them, or until their sizes reach `bytes`.
    static func remove(_ selection: Selection, limit: Int = -1, bytes: Int = .max, _ db: Database) throws -> Removal {
        var removal = Removal()
        // All rows are read before any is deleted, as SQLite may otherwise return a row twice or skip it.
        var (ids, found, size): ([Int64], Int, Int) = ([], 0, 0)
        try db.statement(
            "SELECT id, body_file, method, url, partition, size FROM responses WHERE \(selection.condition) LIMIT ?"
        ).forEachRow(selection.arguments + [.integer(Int64(limit))]) { row in
            found += 1
            guard let id = row.integer(0) else { return }
            guard size < bytes else { return removal.isPartial = true }
            ids.append(id)
            // Damage may have changed a size.
            size += Int(clamping: min(max(0, row.integer(5) ?? 0), 1 << 40))
            row.text(1).map { removal.files.append($0) }
            if let method = row.text(2), let url = row.text(3), let partition = row.text(4) {
                removal.keys.insert(RequestKey(method: method, url: url, partition: partition))
            }
        }
        guard found > 0 else { return Removal() }
        let before = try totalBytes(db)
        for id in ids { try delete(id, db) }
        removal.count = ids.count
        removal.isPartial = removal.isPartial || found == limit
        removal.bytes = max(0, before.subtractingReportingOverflow(try totalBytes(db)).partialValue)
        return removal
    }
}
