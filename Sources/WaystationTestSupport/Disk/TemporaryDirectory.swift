public import Foundation

/// A directory that is deleted with the last reference to it.
public final class TemporaryDirectory: Sendable {
    /// The directory.
    public let url: URL

    /// Makes an empty directory.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "waystation-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Writes a file, and makes the folders above it.
    @discardableResult
    public func write(_ text: String, to path: String) throws -> URL {
        try write(Data(text.utf8), to: path)
    }

    /// Writes a file, and makes the folders above it.
    @discardableResult
    public func write(_ data: Data, to path: String) throws -> URL {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
        return file
    }

    /// The names of its entries, sorted.
    public var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false)).sorted() }
    }
}
