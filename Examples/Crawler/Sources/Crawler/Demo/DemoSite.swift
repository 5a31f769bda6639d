import ArgumentParser
import Foundation

/// The site that the demo shows.
enum DemoSite {
    /// Debian's package sqlite3-doc.
    static let sqliteDocumentation = "/usr/share/doc/sqlite3"

    /// - Throws: `ValidationError` if the named directory does not exist, or if no site is available.
    static func root(_ named: String?) throws -> URL {
        if let named {
            guard isDirectory(named) else { throw ValidationError("\(named) is not a directory.") }
            return URL(filePath: named, directoryHint: .isDirectory)
        }
        if FileManager.default.fileExists(atPath: sqliteDocumentation + "/index.html") {
            return URL(filePath: sqliteDocumentation, directoryHint: .isDirectory)
        }
        guard isDirectory(smallSite) else {
            throw ValidationError("No site is available: install sqlite3-doc, or name a directory with --site.")
        }
        return URL(filePath: smallSite, directoryHint: .isDirectory)
    }

    /// The small site of this package, next to its sources.
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
