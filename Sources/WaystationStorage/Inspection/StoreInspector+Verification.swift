import Foundation
import WaystationCaching
import WaystationCryptography
import WaystationFileSystem

extension StoreInspector {
    /// Reads every row and every body and compares them with their checksums and digests.
    ///
    /// Blocks for as long as reading the whole store takes. Responses that apps remove meanwhile are not reported as
    /// damage.
    public func verify() throws(StoreError) -> StoreVerification {
        try reading {
            var result = StoreVerification()
            do {
                try check(into: &result)
            } catch  where StoreFailure(error) == .damaged {
                // The check cannot continue in a file that SQLite cannot read.
                result.indexProblems.append("\(error)")
            }
            return result
        }
    }

    private func check(into result: inout StoreVerification) throws {
        result.indexProblems = try index.problems()
        var bodies = BodyContents(layout: layout, fileSystem: fileSystem)
        let listed = try index.entries(.scope(.all))
        result.entries = listed.count
        for row in listed where row.entry == nil {
            result.damaged.append(.init(id: row.id, key: nil, problem: "the row has columns of wrong types"))
        }
        for key in Self.keys(listed.compactMap(\.entry)) {
            for row in try index.rows(for: key) {
                guard let damage = Self.damage(row, key, &bodies) else { continue }
                // An app may have removed the response and its file between the two reads.
                if try index.contains(row) { result.damaged.append(damage) }
            }
        }
        result.bodyFiles = bodies.count
        result.unnamedFiles = try unnamedFiles()
    }

    /// Returns each key of the entries once, in the order of the entries.
    private static func keys(_ entries: [StoredEntry]) -> [RequestKey] {
        var seen = Set<RequestKey>()
        return entries.map(\.key).filter { seen.insert($0).inserted }
    }

    private static func damage(
        _ row: StoreIndex.Found,
        _ key: RequestKey,
        _ bodies: inout BodyContents
    ) -> StoreVerification.Damage? {
        switch row {
        case .damaged(let id): return .init(id: id, key: key, problem: "the response's row has changed bytes")
        case .intact(let record):
            guard let name = record.bodyFile, let problem = bodies.problem(of: name, record) else { return nil }
            return .init(id: record.id, key: key, problem: problem)
        }
    }

    private func unnamedFiles() throws -> Int {
        let shards = try fileSystem.contents(of: layout.bodies).filter(BodyName.isShard)
        let files = try shards.flatMap { shard in
            try fileSystem.contents(of: "\(layout.bodies)/\(shard)").map { "\(shard)/\($0)" }
        }
        // The names are read after the files: a file that got its row in between is not counted.
        let named = try index.namedFiles()
        return files.filter { BodyName($0) != nil && !named.contains($0) }.count
    }
}

/// The contents of body files, each file read once.
private struct BodyContents {
    private enum Content {
        case whole(length: Int, checksums: BlockChecksums, digest: String)
        case unreadable(String)
    }

    let layout: StoreLayout
    let fileSystem: any FileSystem
    private var contents: [String: Content] = [:]

    init(layout: StoreLayout, fileSystem: any FileSystem) {
        self.layout = layout
        self.fileSystem = fileSystem
    }

    var count: Int { contents.count }

    /// The problem of a record's body file; nil when there is none.
    mutating func problem(of name: String, _ record: IndexRecord) -> String? {
        guard let body = BodyName(name) else { return "the body file has a name that the store does not assign" }
        let content = contents[name] ?? read(body)
        contents[name] = content
        switch content {
        case .unreadable(let problem): return "the body file cannot be read: \(problem)"
        case .whole(let length, let checksums, let digest):
            if length != record.bodyLength { return "the body file has \(length) bytes, not \(record.bodyLength)" }
            if checksums != record.checksums { return "the body file has changed bytes" }
            if let expected = body.digest, expected != digest {
                return "the digest of the body file is not the file's name"
            }
            return nil
        }
    }

    private func read(_ body: BodyName) -> Content {
        do {
            let file = try fileSystem.openFile(layout.path(of: body))
            var (checksums, digest, length) = (BlockChecksums(), MessageDigest(), 0)
            while true {
                let block = try fileSystem.read(file, at: length, count: BlockChecksums.blockSize)
                guard !block.isEmpty else { break }
                checksums.append(block: block)
                digest.update(block)
                length += block.count
            }
            let name = BodyName(digest: digest.bytes)
            return .whole(length: length, checksums: checksums, digest: name.digest ?? "")
        } catch {
            return .unreadable("\(error)")
        }
    }
}

extension StoreIndex {
    /// Whether a row that was found is still there and, unless it is damaged, still has the same body file.
    fileprivate func contains(_ row: Found) throws -> Bool {
        switch row {
        case .damaged(let id): try !entries(.id(id)).isEmpty
        case .intact(let record):
            try rows(for: record.head.key).contains {
                if case .intact(let other) = $0 {
                    other.id == record.id && other.bodyFile == record.bodyFile
                } else {
                    false
                }
            }
        }
    }
}

extension ResponseStore {
    /// Removes the responses that a check found damaged, and replaces the index by a new one if the index itself is
    /// damaged.
    ///
    /// - Returns: How many responses were removed; the responses of a damaged index are not counted.
    /// - Throws: ``StoreError`` when the store does not work.
    @discardableResult
    public func repair(_ verification: StoreVerification) async throws(StoreError) -> Int {
        try await waiting { completion in
            change("repairing", keys: [], completion: completion) { [self] opened in
                let removal = try opened.index.remove(ids: verification.damaged.map(\.id))
                finish(removal, in: opened)
                try opened.index.recount()
                let problems = try opened.index.problems()
                if let problem = problems.first {
                    handle(IndexError.damaged("fails its check: \(problem)"), in: opened, while: "repairing")
                }
                return removal.count
            }
        }
    }
}
