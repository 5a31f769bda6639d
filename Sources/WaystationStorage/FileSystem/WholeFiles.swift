package import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

// Every file that is read whole is read here, with a limit: a file that grew by mistake, or that somebody made large on
// purpose, takes no more memory than that.

extension FileSystem {
    /// Reads a whole file; `nil` when it does not exist.
    ///
    /// - Throws: ``FileError``, with the code `EOVERFLOW` for a file of more than `limit` bytes, of which nothing is
    ///   read.
    package func readFile(_ path: String, limit: Int) throws -> Data? {
        let file: OpenFile
        do {
            file = try openFile(path)
        } catch let error as FileError where error.code == ENOENT || error.code == ENOTDIR {
            return nil
        }
        let length = try length(of: file)
        guard length <= limit else { throw FileError.tooLarge(path, length, limit: limit) }
        return try read(file, at: 0, count: length)
    }
}

extension Data {
    /// Reads a whole file that a person or an app named.
    ///
    /// Unlike ``FileSystem/readFile(_:limit:)``, this follows links, and waits for the end of a pipe.
    ///
    /// - Throws: ``FileError``, with the code `EOVERFLOW` for a file of more than `limit` bytes.
    package init(readingFile file: URL, limit: Int) throws(FileError) {
        let path = file.path(percentEncoded: false)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("open", path) }
        let opened = OpenFile(descriptor: descriptor, path: path)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError("stat", path) }
        // The size of a pipe or of a file of the kernel is not known before its end.
        let size = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
        guard size <= limit else { throw FileError.tooLarge(path, size, limit: limit) }
        self.init(capacity: size)
        var part = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(opened.descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError("read", path) }
            if count == 0 { return }
            append(contentsOf: part[..<count])
            guard self.count <= limit else { throw FileError.tooLarge(path, nil, limit: limit) }
        }
    }
}

extension [UInt8] {
    /// Reads a file of certificates or of a key in PEM form, of at most 16 MiB.
    ///
    /// A system's bundle of all its trusted roots has less than 1 MiB.
    ///
    /// - Throws: ``FileError``.
    package init(pemFile path: String) throws(FileError) {
        self.init(try Data(readingFile: URL(filePath: path), limit: 16 << 20))
    }
}

extension FileError {
    fileprivate static func tooLarge(_ path: String, _ size: Int?, limit: Int) -> FileError {
        let found = size.map { "\($0) bytes, more than the" } ?? "more than the"
        return FileError("read", path, code: EOVERFLOW, because: "it has \(found) \(limit) bytes that are read of it")
    }
}
