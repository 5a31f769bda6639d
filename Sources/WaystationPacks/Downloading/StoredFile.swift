import Foundation
import WaystationFileSystem

/// A file as a source of bytes, read through the injected file system.
struct StoredFile: ByteSource {
    let length: Int
    private let file: OpenFile
    private let files: any FileSystem

    init(_ path: String, _ files: any FileSystem) throws {
        self.files = files
        file = try files.openFile(path)
        length = try files.length(of: file)
    }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let bytes = try files.read(file, at: offset, count: buffer.count)
        bytes.copyBytes(to: buffer)
        return bytes.count
    }
}
