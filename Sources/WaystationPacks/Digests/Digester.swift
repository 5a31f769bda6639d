import Crypto
public import Foundation
public import WaystationFileSystem

/// Computes a digest of bytes that arrive in parts.
public struct Digester: Sendable {
    private enum State: Sendable {
        case sha256(SHA256)
        case md5(Insecure.MD5)
    }

    private var state: State

    /// Makes a digester without any bytes so far.
    public init(_ algorithm: PackDigest.Algorithm = .sha256) {
        state =
            switch algorithm {
            case .sha256: .sha256(SHA256())
            case .md5: .md5(Insecure.MD5())
            }
    }

    /// Takes the next bytes.
    public mutating func update(_ bytes: some DataProtocol) {
        switch state {
        case .sha256(var hash):
            hash.update(data: bytes)
            state = .sha256(hash)
        case .md5(var hash):
            hash.update(data: bytes)
            state = .md5(hash)
        }
    }

    /// The digest of all bytes so far; more may follow.
    public var digest: PackDigest {
        switch state {
        case .sha256(let hash): PackDigest(.sha256, bytes: hash.finalize())
        case .md5(let hash): PackDigest(.md5, bytes: hash.finalize())
        }
    }
}

extension PackDigest {
    /// The digest of bytes in memory.
    public init(of bytes: some DataProtocol, _ algorithm: Algorithm = .sha256) {
        var digester = Digester(algorithm)
        digester.update(bytes)
        self = digester.digest
    }

    /// The digest of all bytes of a source, read in parts of 1 MiB.
    ///
    /// - Throws: The error of reading; ``PackError`` with ``PackError/Code/damaged`` when the source ends before its
    ///   length; `CancellationError` when the task is cancelled meanwhile.
    public init(of source: some ByteSource, _ algorithm: Algorithm = .sha256) throws {
        var digester = Digester(algorithm)
        var offset = 0
        while offset < source.length {
            try Task.checkCancellation()
            let part = try source.read(at: offset, count: 1 << 20)
            guard !part.isEmpty else {
                throw PackError(
                    .damaged,
                    "the source ended at byte \(offset) of \(source.length): something shortened it while it was read"
                )
            }
            digester.update(part)
            offset += part.count
        }
        self = digester.digest
    }

    /// The digest of a file.
    ///
    /// - Throws: The error of reading; `FileError` when the file cannot be opened.
    public init(ofFile url: URL, _ algorithm: Algorithm = .sha256) throws {
        try self.init(of: FileSource(url), algorithm)
    }
}
