public import Foundation
import WaystationCryptography
public import WaystationFileSystem

/// Computes a digest of bytes that arrive in parts.
public struct Digester: Sendable {
    private let algorithm: PackDigest.Algorithm
    private var state: MessageDigest

    /// Makes a digester without any bytes so far.
    public init(_ algorithm: PackDigest.Algorithm = .sha256) {
        self.algorithm = algorithm
        state = MessageDigest(algorithm == .sha256 ? .sha256 : .md5)
    }

    /// Takes the next bytes.
    public mutating func update(_ bytes: some DataProtocol) { state.update(bytes) }

    /// The digest of all bytes so far; more may follow.
    public var digest: PackDigest { PackDigest(algorithm, bytes: state.bytes) }
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
