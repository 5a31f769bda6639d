#if NIO
import NIOCore
import NIOPosix
import Testing

@testable import WaystationNIO

@Suite("Name look-ups", .timeLimit(.minutes(10)))
struct NameResolverTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    @Test("find the addresses of localhost")
    func localhost() async throws {
        let resolver = NameResolver(loop: loop)
        let six = try await resolver.initiateAAAAQuery(host: "localhost", port: 80).get()
        let four = try await resolver.initiateAQuery(host: "localhost", port: 80).get()
        #expect((six + four).contains(try SocketAddress(ipAddress: "127.0.0.1", port: 80)))
        #expect(four.count == 1)
    }

    @Test("of one name do not wait for those of another")
    func concurrent() async throws {
        let gate = Gate()
        let blocked = NameResolver(loop: loop) { _, port in
            let answer = Gate.Blocker(gate)
            answer.wait()
            return [try SocketAddress(ipAddress: "127.0.0.1", port: port)]
        }
        let free = NameResolver(loop: loop) { _, port in [try SocketAddress(ipAddress: "127.0.0.2", port: port)] }
        let first = blocked.initiateAAAAQuery(host: "slow", port: 1)
        _ = free.initiateAAAAQuery(host: "fast", port: 1)
        let addresses = try await free.initiateAQuery(host: "fast", port: 1).get()
        #expect(addresses.map(\.ipAddress) == ["127.0.0.2"])
        gate.open()
        _ = try await first.get()
    }

    @Test("that no connect waits for any more ask the system nothing")
    func givenUp() async throws {
        let resolver = NameResolver(loop: loop) { _, _ in
            Issue.record("the name was looked up")
            return []
        }
        resolver.cancelQueries()
        let addresses = resolver.initiateAAAAQuery(host: "slow", port: 1)
        await #expect(throws: NameResolver.Failure.self) { try await addresses.get() }
        await #expect(throws: NameResolver.Failure.self) {
            try await resolver.initiateAQuery(host: "slow", port: 1).get()
        }
    }

    @Test("report why a name has no address")
    func failure() async throws {
        let resolver = NameResolver(loop: loop)
        await #expect(throws: NameResolver.Failure.self) {
            _ = try await resolver.initiateAAAAQuery(host: "nowhere.invalid", port: 80).get()
        }
    }
}
#endif
