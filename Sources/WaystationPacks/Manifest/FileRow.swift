import Synchronization
import WaystationFileSystem

/// Reads many files as one stream with only a few of them open at a time: a release may change thousands of files.
struct FileRow: Sendable {
    private final class Open: Sendable {
        private static let limit = 8
        private let files = Mutex<[(path: String, source: FileSource)]>([])
        private let fileSystem: any FileSystem

        init(_ fileSystem: any FileSystem) { self.fileSystem = fileSystem }

        func source(_ path: String) throws -> FileSource {
            if let source = files.withLock({ $0.first { $0.path == path }?.source }) { return source }
            let source = try FileSource(fileSystem.openFile(path))
            files.withLock { files in
                if files.count >= Self.limit { files.removeFirst() }
                files.append((path, source))
            }
            return source
        }
    }

    private struct File: ByteSource {
        let path: String
        let length: Int
        let open: Open

        func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            try open.source(path).read(at: offset, into: buffer)
        }
    }

    /// The files as one source; nil when their total length overflows `Int`.
    ///
    /// Each file has the length that is given for it; a file that is shorter on disk ends the stream early.
    static func source(
        _ files: [(path: String, length: Int)],
        _ fileSystem: any FileSystem
    ) -> ConcatenatedSource? {
        let open = Open(fileSystem)
        return ConcatenatedSource(files.map { File(path: $0.path, length: $0.length, open: open) })
    }
}
