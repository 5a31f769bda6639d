package import Foundation
import WaystationFileSystem

/// The file that keeps the number of the last invalidation of a fleet that a cache has carried out.
///
/// It holds the number in decimal digits. Without it, everything that is stored may be outdated.
package struct SequenceFile: Sendable {
    private let url: URL

    /// Names the file in the directory of a cache.
    package init(in directory: URL) { url = directory.appending(path: "shared.sequence") }

    func read() -> UInt64? {
        guard let data = try? Data(readingFile: url, limit: 20) else { return nil }
        return UInt64(String(decoding: data, as: UTF8.self))
    }

    /// Replaces the number; if that fails, the next run removes what is stored.
    func write(_ number: UInt64) {
        guard (try? Data("\(number)".utf8).write(to: url, options: .atomic)) != nil else {
            try? FileManager.default.removeItem(at: url)
            return
        }
        try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    }
}
