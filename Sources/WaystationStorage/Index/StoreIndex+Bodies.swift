import Foundation

/// Body files are put in place and removed only while this process has locked the index for writing, and a body file is
/// never removed while a row names it.
///
/// So code that adds a row under that lock can rely on a file that exists. A process that is killed in between leaves a
/// file without a row, never a row without its file.
extension StoreIndex {
    /// Removes those of the body files that no row names any more; `remove` is called for each.
    func removeUnnamed(_ files: [String], remove: (String) throws -> Void) throws {
        guard !files.isEmpty else { return }
        try change { db in
            for file in Set(files) where try !isNamed(file, db) { try remove(file) }
        }
    }

    /// Removes all rows that name a body file, if `isDamaged` still returns true while no process can replace the file.
    func removeRows(naming file: String, if isDamaged: () throws -> Bool) throws -> Removal {
        try change { db in try isDamaged() ? Self.remove(.file(file), db) : Removal() }
    }

    /// Removes the body files in a shard that no row names; `remove` is called for each.
    func removeOrphans(among names: () throws -> [String], shard: String, remove: (String) throws -> Void) throws -> Int
    {
        try change { db in
            let known = try namedFiles(in: shard, db)
            let orphans = try names().map { "\(shard)/\($0)" }.filter { !known.contains($0) }
            for orphan in orphans { try remove(orphan) }
            return orphans.count
        }
    }

    /// Runs a removal of empty directories while no process puts a body file in its place.
    func removeDirectories(_ remove: () throws -> Void) throws { try change { _ in try remove() } }

    private func isNamed(_ file: String, _ db: Database) throws -> Bool {
        try db.integer("SELECT 1 FROM responses WHERE body_file = ? LIMIT 1", [.text(file)]) != nil
    }

    private func namedFiles(in shard: String, _ db: Database) throws -> Set<String> {
        Set(
            try db.texts(
                "SELECT CAST(body_file AS TEXT) FROM responses WHERE body_file >= ? AND body_file < ?",
                [.text("\(shard)/"), .text("\(shard)0")]  // "0" follows "/"
            )
        )
    }
}
