public import Foundation
public import WaystationPacks
import WaystationStorage

/// Stores a private key in a file that only its owner may read.
public enum KeyFile {
    /// Reads a key.
    ///
    /// - Throws: ``WaystationPacks/PackError`` when the file cannot be read or holds no key.
    public static func read(_ file: URL) throws(PackError) -> SigningKey {
        let path = file.path(percentEncoded: false)
        let text: Data?
        do {
            text = try LocalFileSystem().readFile(path, limit: 4096)
        } catch {
            throw PackError(.fileSystem, "the key in \(path) cannot be read", cause: error)
        }
        guard let text else {
            throw PackError(.fileSystem, "\(path) does not exist: make a key with `waystation keys generate`")
        }
        guard let key = SigningKey(String(decoding: text, as: UTF8.self)) else {
            throw PackError(
                .invalidArgument,
                "\(path) holds no private key (ed25519-private:…): make one with `waystation keys generate`"
            )
        }
        return key
    }

    /// Writes a key to a new file with mode 0600.
    ///
    /// - Throws: ``WaystationPacks/PackError`` with `invalidArgument` when the file exists already or the URL is not a
    ///   file URL, `fileSystem` when the disk fails.
    public static func write(_ key: SigningKey, to file: URL) throws(PackError) {
        try NewFile.write(Data((key.secretText + "\n").utf8), to: file)
    }
}

/// Writes a file that must not exist yet.
enum NewFile {
    static func write(
        _ data: Data,
        to file: URL,
        using fileSystem: any FileSystem = LocalFileSystem()
    ) throws(PackError) {
        if let problem = file.fileURLProblem { throw PackError(.invalidArgument, problem) }
        let path = file.path(percentEncoded: false)
        do {
            let file = try fileSystem.createFile(path)
            do {
                try fileSystem.write(data, to: file)
                try fileSystem.synchronize(file)
                // Without this, the file's name could be lost in a power cut.
                let folder = (path as NSString).deletingLastPathComponent
                try fileSystem.synchronizeDirectory(folder.isEmpty ? "." : folder)
            } catch {
                try? fileSystem.removeFile(path)
                throw error
            }
        } catch let error as FileError where error.code == EEXIST {
            throw PackError(.invalidArgument, "\(path) already exists: remove it, or give another name", cause: error)
        } catch let error as FileError where error.isFull {
            throw PackError(.noSpace, "the disk is full while writing \(path): free some space", cause: error)
        } catch {
            throw PackError(.fileSystem, "\(path) cannot be written", cause: error)
        }
    }
}
