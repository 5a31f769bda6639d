package import Foundation
import WaystationFileSystem

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The bytes of a body in an open file that has no name any more.
///
/// The file disappears when its last reader is gone.
final class SpooledBody: Sendable {
    let length: Int
    private let file: OpenFile
    private let fileSystem: any FileSystem

    init(_ file: OpenFile, length: Int, _ fileSystem: any FileSystem) {
        self.file = file
        self.length = length
        self.fileSystem = fileSystem
    }

    func read(at offset: Int, count: Int) throws -> Data {
        let data = try fileSystem.read(file, at: offset, count: min(count, length - offset))
        guard !data.isEmpty || offset >= length else { throw FileError("read", file.path, code: EIO) }
        return data
    }
}

/// Collects a body: its bytes are kept in memory, and in a file once they exceed the spool's memory limit.
package struct SpoolWriter {
    private enum Place {
        case memory(Data)
        case file(OpenFile, length: Int)
    }

    private let spool: BodySpool
    private var place = Place.memory(Data())

    package init(_ spool: BodySpool) { self.spool = spool }

    private var fileSystem: any FileSystem { spool.fileSystem }

    package mutating func append(_ part: Data) throws {
        switch place {
        case .memory(var data) where data.count + part.count <= spool.memory.bytes:
            // Releases the other reference first; otherwise each part would copy all bytes so far.
            place = .memory(Data())
            data.append(part)
            place = .memory(data)
        case .memory(let data):
            let file = try makeFile()
            try fileSystem.write(data, to: file)
            try fileSystem.write(part, to: file)
            place = .file(file, length: data.count + part.count)
        case .file(let file, let length):
            try fileSystem.write(part, to: file)
            place = .file(file, length: length + part.count)
        }
    }

    private func makeFile() throws -> OpenFile {
        try spool.directory.checkIsFile(for: "create")
        let path = spool.directory.appending(path: "waystation-body-\(RandomName.make())").path
        let file = try fileSystem.createFile(path)
        try fileSystem.removeFile(path)
        return file
    }

    /// The request with the written body.
    package func finish(_ request: URLRequest) -> URLRequest {
        switch place {
        case .memory(let data): return request.carrying(data)
        case .file(let file, let length):
            var request = request.framedByTransport
            request.httpBodyStream = SpooledStream(SpooledBody(file, length: length, fileSystem))
            return request
        }
    }
}
