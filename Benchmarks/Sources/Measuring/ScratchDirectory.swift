public import Foundation

/// A new, empty directory that is deleted with its last reference.
public final class ScratchDirectory: Sendable {
    /// The location of the directory.
    public let url: URL

    /// Makes a directory in the system's directory for temporary files.
    ///
    /// - Throws: The error of creating the directory.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("waystation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
