#if NIO
import Testing

@testable import WaystationNIO

@Suite("A server's identity (RFC 9525 §6)")
struct ServerIdentityTests {
    private func isFor(_ host: String, _ names: ServerIdentity.Name...) -> Bool {
        let identity = ServerIdentity(names: names, hasAlternativeNames: true)
        return (try? identity.check(isFor: host)) != nil
    }

    @Test("is one of the certificate's names")
    func names() {
        #expect(isFor("a.example", .dns("b.example"), .dns("a.example")))
        #expect(isFor("a.example.", .dns("a.example")))
        #expect(!isFor("a.example", .dns("b.example")))
        #expect(!isFor("sub.a.example", .dns("a.example")))
    }

    @Test("A star stands for one label at the start")
    func stars() {
        #expect(isFor("a.b.example", .dns("*.b.example")))
        #expect(!isFor("b.example", .dns("*.b.example")))
        #expect(!isFor("x.a.b.example", .dns("*.b.example")))
        #expect(!isFor(".b.example", .dns("*.b.example")))
        #expect(!isFor("b.example", .dns("*.example")))
        #expect(!isFor("example", .dns("*")))
        #expect(!isFor("a.example", .dns("*.")))
        #expect(!isFor("abc.b.example", .dns("a*.b.example")))
    }

    @Test("Without alternative names, an address is never proved, and a name was checked by NIOSSL")
    func noAlternativeNames() throws {
        let identity = ServerIdentity(names: [], hasAlternativeNames: false)
        #expect(throws: ServerIdentity.Mismatch.self) { try identity.check(isFor: "127.0.0.1") }
        try identity.check(isFor: "a.example")
    }

    @Test("A name is never proved by an address, nor an address by a name")
    func addresses() {
        #expect(isFor("127.0.0.1", .address([127, 0, 0, 1])))
        #expect(isFor("::1", .address([UInt8](repeating: 0, count: 15) + [1])))
        #expect(!isFor("127.0.0.1", .address([127, 0, 0, 2])))
        #expect(!isFor("127.0.0.1", .dns("127.0.0.1")))
        #expect(!isFor("localhost", .address([127, 0, 0, 1])))
    }

    @Test("The error names the host and the names of the certificate")
    func explanation() {
        let identity = ServerIdentity(names: [.dns("b.example")], hasAlternativeNames: true)
        let mismatch = #expect(throws: ServerIdentity.Mismatch.self) { try identity.check(isFor: "a.example") }
        #expect(mismatch?.description == "the certificate is for b.example, not for a.example")
    }

    @Test("The name for TLS has no dot at its end, and an address is no name")
    func serverNames() {
        let names = ["shop.test", "shop.test.", "127.0.0.1", "::1"].map {
            Origin(isSecure: true, host: $0, port: 443).serverName
        }
        #expect(names == ["shop.test", "shop.test", nil, nil])
    }

    @Test("A mismatch names IPv6 addresses as such, and a few of many names, without control characters")
    func mismatchText() {
        let loopback = [UInt8](repeating: 0, count: 15) + [1]
        var mismatch = ServerIdentity.Mismatch(host: "a", names: [.address(loopback), .address([127, 0, 0, 1])])
        #expect(mismatch.description == "the certificate is for ::1, 127.0.0.1, not for a")
        mismatch.names = [.address([1, 2, 3]), .dns("b\u{1B}c")]
        #expect(mismatch.description == "the certificate is for an address of 3 bytes, b\\u{1B}c, not for a")
        mismatch.names = (0..<30).map { .dns("\($0)") }
        #expect(mismatch.description == "the certificate is for 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20 others, not for a")
    }
}
#endif
