import Foundation
import Waystation
import WaystationOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads with fields of their session's configuration.
extension TrapLoads {
    func numberInField() async throws -> String? {
        let origin = try ScriptedOrigin { .ok($0.value(of: "X-Build") ?? "") }
        let session = try session(adding: ["X-Build": 42]) { $0.rules = [.allow(Self.origins, via: .network)] }
        let (body, _) = try await session.data(from: origin.url())
        return body == Data("42".utf8) ? nil : "the field is sent as “\(String(decoding: body, as: UTF8.self))”"
    }
}
