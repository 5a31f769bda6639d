import Dispatch
import Foundation
import Synchronization
import WaystationCookies
import WaystationFileSystem

/// The file that cookies are kept in: readable by its owner alone, and replaced as a whole.
///
/// Writes are made one at a time; what changes while one is under way goes into the next.
final class CookieFile: Sendable {
    /// Some thousand cookies of the largest size.
    private static let limit = 32 << 20

    let url: URL
    private let fileSystem: any FileSystem
    private let queue = DispatchQueue(label: "waystation.cookies.file")
    private let isDue = Mutex(false)

    init(_ url: URL, fileSystem: any FileSystem = LocalFileSystem()) {
        self.url = url
        self.fileSystem = fileSystem
    }

    private var path: String { url.path(percentEncoded: false) }

    /// What is kept; nil when there is nothing yet.
    ///
    /// A file that cannot be read is put aside, so that it is not overwritten.
    func read() throws -> CookieJar? {
        do {
            // Cookies that another user wrote are not this app's, and nobody else is to read these.
            try fileSystem.makePrivate(path)
            guard let data = try fileSystem.readFile(path, limit: Self.limit) else { return nil }
            return try JSONDecoder().decode(CookieJar.self, from: data)
        } catch {
            try? fileSystem.rename(path, to: path + ".damaged")
            throw error
        }
    }

    /// Writes what `jar` returns when its turn comes; `done` is called with the error, nil when it is written.
    func save(_ jar: @escaping @Sendable () -> CookieJar?, done: @escaping @Sendable (URL, (any Error)?) -> Void) {
        let isDueAlready = isDue.withLock { isDue in
            defer { isDue = true }
            return isDue
        }
        guard !isDueAlready else { return }
        queue.async { [self] in
            isDue.withLock { $0 = false }
            guard let jar = jar() else { return }
            do {
                try fileSystem.createDirectory((path as NSString).deletingLastPathComponent)
                try fileSystem.replaceFile(path, with: JSONEncoder().encode(jar))
                done(url, nil)
            } catch {
                done(url, error)
            }
        }
    }

    /// Returns when everything that was to be written before is on disk.
    func flush() async {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
    }
}
