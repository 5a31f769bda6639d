import ArgumentParser
import Foundation

/// Which site the demo shows.
enum DemoSite {
    /// Debian's package sqlite3-doc.
    static let sqliteDocumentation = "/usr/share/doc/sqlite3"

    /// - Throws: `ValidationError` when the directory named is none, or no site is at hand.
    static func root(_ named: String?) throws -> URL {
        if let named {
            guard isDirectory(named) else { throw ValidationError("\(named) is no directory.") }
            return URL(filePath: named, directoryHint: .isDirectory)
        }
        if FileManager.default.fileExists(atPath: sqliteDocumentation + "/index.html") {
            return URL(filePath: sqliteDocumentation, directoryHint: .isDirectory)
        }
        guard isDirectory(smallSite) else {
            throw ValidationError("No site at hand: install sqlite3-doc, or name a directory with --site.")
        }
        return URL(filePath: smallSite, directoryHint: .isDirectory)
    }

    /// The small site of this package, found beside its sources.
    static var smallSite: String {
        URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Site").path
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}
