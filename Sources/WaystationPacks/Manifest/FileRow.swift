import Synchronization
import WaystationFileSystem

/// Files that are read as one stream, of which only a few are open at a time: a release may change thousands.
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

    /// A source of files in a row; nil when they are too long together.
    ///
    /// Each file's length is the one given; a file that is shorter ends the stream early.
    static func source(
        _ files: [(path: String, length: Int)],
        _ fileSystem: any FileSystem
    ) -> ConcatenatedSource? {
        let open = Open(fileSystem)
        return ConcatenatedSource(files.map { File(path: $0.path, length: $0.length, open: open) })
    }
}
