import Foundation
import Waystation
import WaystationOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads of responses with uncommon parts.
extension TrapLoads {
    func interimResponse() async throws -> String? {
        let bytes = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let origin = try ScriptedOrigin { _ in .raw(Data(bytes.utf8)) }
        let delegate = FirstResponse()
        try session(delegate: delegate).dataTask(with: origin.url()).resume()
        let status = await delegate.status
        return status == 200 ? nil : "the delegate gets the status \(status) of an interim response"
    }

    func trailer() async throws -> String? {
        let bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n"
        let origin = try ScriptedOrigin { _ in .raw(Data(bytes.utf8)) }
        let (data, _) = try await session().data(from: origin.url())
        return data == Data("ok".utf8) ? nil : "the body is not what was sent"
    }

    func relativeLocation() async throws -> String? {
        let origin = try ScriptedOrigin { $0.path == "/folder/from" ? .redirect(302, to: "to") : .ok() }
        _ = try await session().data(from: origin.url("/folder/from"))
        let path = origin.requests.last?.path ?? ""
        return path == "/folder/to" ? nil : "the Location “to” of /folder/from leads to \(path)"
    }

    func cutCoding() async throws -> String? {
        let cut = Self.zipped.prefix(Self.zipped.count / 2)
        let origin = try ScriptedOrigin { _ in .ok(cut, fields: ["Content-Encoding": "gzip"]) }
        let session = try session()
        do { _ = try await session.data(from: origin.url()) } catch {
            guard origin.requestCount == 1 else { throw error }
            return nil
        }
        return "half of a gzip body ends the load without an error"
    }

    /// A hundred times "compressible ", by gzip.
    static let zipped =
        Data(base64Encoded: "H4sIAAAAAAACA0vOzy0oSi0uzkzKSVVIHuWMckY5o5yRzQEAlotzNBQFAAA=") ?? Data()
}
