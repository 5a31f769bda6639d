import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix

/// The body of a request in a file, which is gone with the last reference.
final class UploadedPack: Sendable {
    let file: URL

    private init() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "update-server-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        file = directory.appending(path: "pack.zip")
        try Data().write(to: file, options: .withoutOverwriting)
    }

    deinit { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }

    /// Writes a body to a file as it comes.
    ///
    /// - Throws: ``Problem`` with 413 when it is larger than the limit: at once when it says so itself.
    static func receive(_ request: Request, limit: Int) async throws -> UploadedPack {
        let tooLarge = Problem(
            .contentTooLarge,
            "tooLarge",
            "a pack of more than \(limit >> 20) MiB is not taken here",
            // Else the rest of the body would be read, only to be thrown away.
            headers: [.connection: "close"]
        )
        if let announced = request.headers[.contentLength].flatMap({ Int($0) }), announced > limit { throw tooLarge }
        let threads = NIOThreadPool.singleton
        let upload = try await threads.runIfActive { try UploadedPack() }
        let handle = try FileHandle(forWritingTo: upload.file)
        defer { try? handle.close() }
        var received = 0
        for try await part in request.body {
            received += part.readableBytes
            guard received <= limit else { throw tooLarge }
            try await threads.runIfActive { try handle.write(contentsOf: Data(part.readableBytesView)) }
        }
        return upload
    }
}
