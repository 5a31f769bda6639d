import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix

/// A file with the body of a request; it is deleted with the last reference to this object.
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

    /// Writes a body to a file while it arrives.
    ///
    /// - Throws: ``Problem`` with 413 if the body is larger than the limit; at once if its announced length is.
    static func receive(_ request: Request, limit: Int) async throws -> UploadedPack {
        let tooLarge = Problem(
            .contentTooLarge,
            "tooLarge",
            "a pack may have at most \(limit >> 20) MiB here",
            // Without this field the server would read the rest of the body, only to discard it.
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
