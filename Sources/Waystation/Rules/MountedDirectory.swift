import Foundation
import WaystationFiles
import WaystationRules

/// A directory of files under a base URL.
struct MountedDirectory: Sendable {
    let directory: OfflineDirectory
    private let origin: String
    private let basePath: String

    init(_ root: URL, at base: String, rule: Int) throws {
        guard let url = CanonicalURL(base), url.query == nil else {
            throw WaystationError(
                .invalidBaseURL,
                "rule \(rule) serves files at \"\(base)\", which is not an absolute URL without a query, such as https://app.example/shop/"
            )
        }
        origin = url.origin
        let path = String(url.path)
        basePath = path.hasSuffix("/") ? path : path + "/"
        do {
            directory = try OfflineDirectory(root)
        } catch {
            throw WaystationError(
                .unusableDirectory,
                "rule \(rule) serves files that cannot be opened: \(error)",
                cause: error
            )
        }
    }

    /// The path of a URL below the base, percent-encoded and without a leading slash; nil when the URL is elsewhere.
    func relativePath(of url: CanonicalURL) -> Substring? {
        guard url.origin == origin else { return nil }
        let path = url.path
        guard path.utf8.starts(with: basePath.utf8) else {
            // The URL is the base itself, written without its slash.
            return path + "/" == basePath ? "" : nil
        }
        return path.utf8.dropFirst(basePath.utf8.count).isEmpty ? "" : path.dropFirst(basePath.count)
    }
}
