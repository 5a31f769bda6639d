import Foundation
import HTTPTypes
import Measuring
import WaystationStorage

/// The store that a crowd has left behind, checked after all its processes have ended.
struct Remains {
    struct Findings {
        var entries = 0
        var bytes = 0
        var parts = 0
        var isWhole = false
        var wrong: [String] = []
    }

    let directory: URL

    func check() async throws -> Findings {
        var findings = Findings()
        // First the store as the crowd left it: `PRAGMA integrity_check`, the totals, every row, every body with its
        // SHA-256.
        let before = try StoreInspector(directory: directory).verify()
        findings.isWhole = before.isIntact
        findings.wrong += before.indexProblems + before.damaged.map { "damaged: \($0.problem)" }
        // Then the store as the next process finds it after its clean-up.
        let store = ResponseStore(directory: directory, limits: Material.limits)
        await store.flush()
        let inspector = try StoreInspector(directory: directory)
        let after = try inspector.verify()
        if !after.isIntact || after.unnamedFiles > 0 { findings.wrong.append("not intact after an opening: \(after)") }
        for entry in try inspector.entries() {
            if entry.key.url.hasPrefix(Films.prefix) {
                findings.parts += entry.part == nil ? 0 : 1
                if try !isRightFilm(entry, inspector) { findings.wrong.append("a wrong film: \(entry.key)") }
                continue
            }
            guard let number = entry.key.url.split(separator: "/").last.flatMap({ Int($0) }),
                let response = try inspector.response(entry),
                let version = response.head.headerFields[Material.version].flatMap({ Int($0) }),
                try response.body.contents() == Material.body(number, version: version)
            else {
                findings.wrong.append("a wrong body: \(entry.key)")
                continue
            }
        }
        (findings.entries, findings.bytes) = try inspector.totals()
        if findings.bytes > Material.limits.maximumSize.bytes {
            findings.wrong.append("\(findings.bytes) bytes are more than the maximum")
        }
        try await store.purge([.tag(Films.tag)], as: .hard)
        await store.flush()
        let kept = try inspector.entries().filter { $0.key.url.hasPrefix(Films.prefix) }
        findings.wrong += kept.map { "not purged: \($0.key), \($0.part?.description ?? "whole")" }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        if let aside = names.first(where: { $0.contains("damaged") }) { findings.wrong.append("moved aside: \(aside)") }
        return findings
    }

    /// Whether a film, or a part of one, has the bytes of its version.
    private func isRightFilm(_ entry: StoredEntry, _ inspector: StoreInspector) throws -> Bool {
        guard let number = entry.key.url.split(separator: "/").last.flatMap({ Int($0) }),
            let response = try inspector.response(entry), let version = Films.version(response.head.headerFields[.eTag])
        else { return false }
        let bytes = entry.part?.bytes ?? 0..<Films.length
        return try response.body.contents() == Films.body(number, version: version).subdata(in: bytes)
    }
}
