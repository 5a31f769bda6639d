#if Gateway
import Foundation
import WaystationCryptography
import WaystationFileSystem

/// The directory of an authority.
///
/// | File | Content |
/// | --- | --- |
/// | `authority.pem` | the intermediate's key and certificate, and the root's certificate; mode 0600 |
/// | `root.pem` | the root's certificate, which browsers install |
/// | `lock` | locked while an authority is opened |
struct AuthorityDirectory {
    let path: String
    private let files: any FileSystem

    private static let largest = 4 << 20

    init(_ directory: URL) {
        path = directory.standardizedFileURL.path
        files = LocalFileSystem().confined(to: path)
    }

    var rootPath: String { path + "/root.pem" }
    private var authorityPath: String { path + "/authority.pem" }

    /// Opens the stored authority, or makes and stores another one.
    ///
    /// - Parameters:
    ///   - names: The names that the authority must be for.
    ///   - now: The present time.
    /// - Returns: The authority, and the reason why it was made; nil if it was stored already.
    /// - Throws: ``CertificateAuthorityError`` or `FileError`.
    func open(for names: [String], now: Date) throws -> (authority: StoredAuthority, madeBecause: String?) {
        try files.createDirectory(path)
        let lock = try files.waitForLock(path + "/lock")
        return try withExtendedLifetime(lock) {
            let stored = try read()
            let reason = stored.map { $0.reasonToReplace(for: names, now: now) } ?? "the directory had no authority"
            if let stored, reason == nil {
                if (try? readFile(rootPath)) != stored.root.pem { try write(stored.root.pem, to: rootPath) }
                return (stored, nil)
            }
            let made = try StoredAuthority(for: names, now: now)
            try write(made.pem, to: authorityPath)
            try write(made.root.pem, to: rootPath)
            return (made, reason)
        }
    }

    /// The stored authority; nil if the directory has no authority.
    private func read() throws -> StoredAuthority? {
        // A process that ended while it wrote may have left a file with a key that nothing uses.
        for name in try files.contents(of: path) where name.hasPrefix("new-") {
            try files.removeFile(path + "/" + name)
        }
        guard try files.status(of: authorityPath) != nil else { return nil }
        let mode = try FileManager.default.attributesOfItem(atPath: authorityPath)[.posixPermissions] as? NSNumber
        if let mode, mode.uint32Value & 0o077 != 0 {
            throw CertificateAuthorityError.openToOthers(authorityPath, mode: mode.uint32Value & 0o7777)
        }
        return try StoredAuthority(pem: try readFile(authorityPath), at: authorityPath)
    }

    private func readFile(_ path: String) throws -> String {
        do {
            return String(decoding: try files.readFile(path, limit: Self.largest) ?? Data(), as: UTF8.self)
        } catch let error as FileError where error.code == EOVERFLOW {
            throw CertificateAuthorityError.damaged(path, "it has more than \(Self.largest) bytes")
        }
    }

    /// Replaces a file at once: whenever the process ends, the file has its old content or all of the new one.
    private func write(_ text: String, to path: String) throws {
        let new = self.path + "/new-" + RandomName.make()
        do {
            let file = try files.createFile(new)
            try files.write(Data(text.utf8), to: file)
            try files.synchronize(file)
            try files.rename(new, to: path)
            try files.synchronizeDirectory(self.path)
        } catch {
            try? files.removeFile(new)
            throw error
        }
    }
}
#endif
