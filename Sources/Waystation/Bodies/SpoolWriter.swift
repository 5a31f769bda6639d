package import Foundation
import WaystationFileSystem

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Collects a body: its bytes are kept in memory, and in a file once they exceed the spool's memory limit.
package struct SpoolWriter {
    private enum Place {
        case memory(Data)
        case file(SpooledBody)
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
            let body = SpooledBody(try makeFile(), fileSystem)
            try body.append(data)
            try body.append(part)
            place = .file(body)
        case .file(let body):
            try body.append(part)
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
        case .file(let body):
            body.end()
            return request.carrying(body)
        }
    }

    /// The request with a body that is still being written; nil as long as the body is in memory.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - length: The length that the whole body will have, in bytes.
    /// - Returns: The request, and its body.
    package func begin(_ request: URLRequest, length: Int) -> (request: URLRequest, body: SpooledBody)? {
        guard case .file(let body) = place else { return nil }
        body.expect(length: length)
        return (request.carrying(body), body)
    }
}

extension URLRequest {
    fileprivate func carrying(_ body: SpooledBody) -> URLRequest {
        var request = framedByTransport
        request.httpBodyStream = SpooledStream(body)
        return request
    }
}
