import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix

/// A file with the body of a request; it is deleted with the last reference to this object.
///
/// It lies in a directory of its own, which is locked as long as the object exists. So a server that starts can tell the
/// directories of uploads under way, also those of other servers, from those that a killed server left behind.
final class UploadedPack: Sendable {
    let file: URL
    /// The locked directory.
    private let directory: LockedDirectory

    private static let prefix = "update-server-"

    private init() throws {
        directory = try LockedDirectory.create(Self.prefix, in: FileManager.default.temporaryDirectory)
        file = directory.url.appending(path: "pack.zip")
        do { try Data().write(to: file, options: .withoutOverwriting) } catch {
            directory.remove()
            throw error
        }
    }

    deinit { directory.remove() }

    /// Deletes the uploads that killed servers left behind.
    ///
    /// - Returns: The number of deleted uploads.
    static func removeLeftOvers() -> Int {
        let folder = FileManager.default.temporaryDirectory
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        return names.count { name in
            guard UUID(uuidString: String(name.dropFirst(prefix.count))) != nil, name.hasPrefix(prefix),
                let directory = LockedDirectory(folder.appending(path: name))
            else { return false }
            directory.remove()
            return true
        }
    }

    /// Writes a body to a file while it arrives.
    ///
    /// - Throws: ``Problem`` with 413 if the body is larger than the limit, at once if its announced length is; and with
    ///   507 if the file cannot be written.
    static func receive(_ request: Request, _ context: ServerContext, limit: Int) async throws -> UploadedPack {
        let tooLarge = Problem(
            .contentTooLarge,
            "tooLarge",
            "a pack may have at most \(limit >> 20) MiB here",
            headers: [.connection: "close"]
        )
        if let announced = request.headers[.contentLength].flatMap({ Int($0) }), announced > limit { throw tooLarge }
        let threads = NIOThreadPool.singleton
        let upload = try await storing { try await threads.runIfActive { try UploadedPack() } }
        let handle = try await storing { try FileHandle(forWritingTo: upload.file) }
        defer { try? handle.close() }
        try await context.expectBody(of: request)
        var received = 0
        for try await part in request.body {
            received += part.readableBytes
            guard received <= limit else { throw tooLarge }
            try await storing {
                try await threads.runIfActive { try handle.write(contentsOf: Data(part.readableBytesView)) }
            }
        }
        return upload
    }

    private static func storing<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch {
            throw Problem(
                .insufficientStorage,
                "noSpace",
                "the server has no room for the upload: free space in its temporary directory, or set TMPDIR to another",
                headers: [.connection: "close"],
                cause: error
            )
        }
    }
}

/// A directory of this user with an exclusive lock, which ends with the object or its process.
private final class LockedDirectory: Sendable {
    let url: URL
    private let descriptor: Int32

    /// Opens and locks a directory; nil if it is locked, belongs to another user, or is gone.
    init?(_ url: URL) {
        let path = url.path(percentEncoded: false)
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var (opened, present) = (stat(), stat())
        // Between its opening and its locking, another server may have taken it for a left-over.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &opened) == 0, opened.st_uid == geteuid(),
            lstat(path, &present) == 0, present.st_ino == opened.st_ino, present.st_dev == opened.st_dev
        else {
            close(descriptor)
            return nil
        }
        (self.url, self.descriptor) = (url, descriptor)
    }

    deinit { close(descriptor) }

    /// Makes a directory that no other process uses.
    static func create(_ prefix: String, in folder: URL) throws -> LockedDirectory {
        while true {
            let url = folder.appending(path: prefix + UUID().uuidString)
            try FileManager.default.createDirectory(
                at: url,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
            if let directory = LockedDirectory(url) { return directory }
            // The directory could not be opened, unless another server removed it.
            guard !FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) else {
                throw CocoaError(.fileWriteUnknown)
            }
        }
    }

    func remove() { try? FileManager.default.removeItem(at: url) }
}

extension HTTPResponse.Status {
    /// 507 (RFC 4918 section 11.5).
    static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}
