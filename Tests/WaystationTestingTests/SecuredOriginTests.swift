#if NIO
import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite(.timeLimit(.minutes(10)))
struct SecuredOriginTests {
    private struct Order: Codable, Equatable {
        var item: String
    }

    @Test(arguments: [(SecuredOrigin.Versions.http2, "h2"), (.http1, "http/1.1")])
    func `a session of the origin trusts it`(versions: SecuredOrigin.Versions, chosen: String) async throws {
        let origin = try await SecuredOrigin(versions: versions) { request in
            guard let order = try? request.json(as: Order.self) else { return .json(["got": request.target]) }
            return .json(Order(item: "\(order.item), \(request.bodyLength)"), status: 201)
        }
        let session = try origin.makeSession()
        #expect(try await session.load(origin.url("/a?b=c").absoluteString).text == #"{"got":"/a?b=c"}"#)
        var request = URLRequest(url: origin.url("/orders"))
        request.httpMethod = "POST"
        let body = Data(#"{"item":"\#(String(repeating: "x", count: 100_000))"}"#.utf8)
        let (data, response) = try await session.upload(for: request, from: body)
        let length = try JSONDecoder().decode(Order.self, from: data).item.utf8.count
        #expect(length == 100_000 + ", \(body.count)".utf8.count)
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        #expect(origin.requests.map(\.method) == ["GET", "POST"])
        // One connection for both, whatever the version.
        #expect(origin.connectionVersions == [chosen])
    }

    @Test func `a long body arrives whole, and many exchanges share a connection of HTTP/2`() async throws {
        let long = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0) })
        let origin = try await SecuredOrigin { $0.path == "/long" ? .ok(long) : .ok($0.path) }
        let session = try origin.makeSession()
        #expect(try await session.data(from: origin.url("/long")).0 == long)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<30 {
                group.addTask {
                    try await session.expect("/\(number)", from: origin.url("/\(number)").absoluteString)
                }
            }
            try await group.waitForAll()
        }
        #expect(origin.connectionVersions == ["h2"])
    }

    @Test(arguments: [SecuredOrigin.Versions.http2, .http1])
    func `a response that breaks off is an error`(versions: SecuredOrigin.Versions) async throws {
        let origin = try await SecuredOrigin(versions: versions) { _ in .truncated(Data(count: 1_000), after: 10) }
        let error = await (try origin.makeSession()).failure(origin.url().absoluteString)
        #expect(error != nil)
        #expect(origin.requests.count == 1)
    }

    @Test func `Foundation's own loader does not trust the origin`() async throws {
        let origin = try await SecuredOrigin { _ in .ok() }
        let error = await URLSession(configuration: .ephemeral).failure(origin.url().absoluteString)
        #expect(error != nil)
        #expect(origin.requests.isEmpty)
        #expect(origin.authority.hasPrefix("-----BEGIN CERTIFICATE-----"))
    }
}
#endif
