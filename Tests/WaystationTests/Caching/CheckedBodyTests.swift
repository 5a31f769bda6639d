import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaystationHTTP

@testable import Waystation

@Suite("A body of joined parts that is compared with the digest of the whole")
final class CheckedBodyTests: Sendable {
    private struct Bytes: BodySource {
        let data: Data
        var length: Int { data.count }

        func read(at offset: Int, count: Int) throws -> Data { data.dropFirst(offset).prefix(count) }
    }

    /// The SHA-256 of `hello`.
    private static let digest = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"

    private let refusals = Mutex(0)

    private func body(_ text: String) throws -> CheckedBody {
        let name = try #require(HTTPField.Name("Repr-Digest"))
        let check = try #require(DigestCheck(StatedDigests(ofRepresentation: [name: Self.digest])))
        return CheckedBody(Bytes(data: Data(text.utf8)), check, of: URL(string: "https://a.example/")) {
            self.refusals.withLock { $0 += 1 }
        }
    }

    @Test("fails for each load that reads it to its end, and is refused once")
    func differs() throws {
        let body = try body("jello")
        #expect(try body.read(at: 0, count: 3) == Data("jel".utf8))
        for _ in 0..<2 { #expect(throws: URLError.self) { try body.read(at: 3, count: 2) } }
        #expect(try body.read(at: 0, count: 3) == Data("jel".utf8))
        #expect(refusals.withLock { $0 } == 1)
    }

    @Test("is read as often as one likes if it agrees")
    func agrees() throws {
        let body = try body("hello")
        for _ in 0..<2 { #expect(try body.read(at: 0, count: 5) == Data("hello".utf8)) }
        #expect(refusals.withLock { $0 } == 0)
    }
}
