import Foundation
import WaystationFields
import WaystationFiles
import WaystationRules

/// A directory of files under a base URL.
struct MountedDirectory: Sendable {
    let directory: OfflineDirectory
    private let origin: String
    private let basePath: String

    init(_ root: URL, at base: String, rule: Int) throws {
        guard let url = CanonicalURL(base)?.plain, url.query == nil else {
            throw WaystationError(
                .invalidBaseURL,
                "rule \(rule) serves files at \(base.quoted()), which is not an absolute URL without a query, such as https://app.example/shop/"
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

    /// The path of a URL below the base, percent-encoded and from the slash on with which the base ends; nil when the
    /// URL is elsewhere.
    ///
    /// It is empty for the base itself, written without its slash. A URL with another slash after the base is elsewhere:
    /// a directory ignores a slash at the start of a path, so the file would have a second URL, which the rules for the
    /// first one do not match.
    func relativePath(of url: CanonicalURL) -> Substring? {
        guard url.origin == origin else { return nil }
        let path = url.plain.path
        guard path.utf8.starts(with: basePath.utf8) else { return path + "/" == basePath ? "" : nil }
        let relative = path[path.utf8.index(path.startIndex, offsetBy: basePath.utf8.count - 1)...]
        return relative.utf8.starts(with: "//".utf8) ? nil : relative
    }
}
