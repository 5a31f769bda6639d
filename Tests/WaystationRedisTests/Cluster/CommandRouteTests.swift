#if Redis
import NIOCore
import Testing
import WaystationStorage

@testable import WaystationRedis

@Suite("The route of a command through a cluster")
struct CommandRouteTests {
    private let server = RedisEndpoint("a", 1)

    private func reply(_ text: String) -> CommandRoute.Outcome { .reply(.error(text), from: server) }

    @Test("ends with a reply, and fails with an error that is not about the cluster")
    func ends() {
        var route = CommandRoute()
        #expect(route.next(after: .reply(.number(1), from: server)) == .end(.number(1)))
        #expect(route.next(after: reply("OOM no memory")) == .fail(TierError(refusal: "OOM no memory")))
    }

    @Test("follows redirects, asking where the slot is being moved")
    func redirects() {
        var route = CommandRoute()
        #expect(route.next(after: reply("MOVED 1 b:2")) == .send(to: RedisEndpoint("b", 2), isAsking: false))
        #expect(route.next(after: reply("ASK 1 c:3")) == .send(to: RedisEndpoint("c", 3), isAsking: true))
    }

    @Test("ends when servers redirect to each other")
    func circle() {
        var route = CommandRoute()
        for _ in 0..<CommandRoute.longest {
            #expect(route.next(after: reply("MOVED 1 b:2")) == .send(to: RedisEndpoint("b", 2), isAsking: false))
        }
        guard case .fail(let error) = route.next(after: reply("MOVED 1 b:2")) else {
            Issue.record("it goes on for ever")
            return
        }
        #expect(error.code == .unreachable)
    }

    @Test("waits longer each time while the slot is between two servers")
    func tryAgain() {
        var route = CommandRoute()
        let pauses = (0..<8).compactMap { _ in
            if case .again(let pause) = route.next(after: reply("TRYAGAIN")) {
                pause.nanoseconds / 1_000_000
            } else {
                nil
            }
        }
        #expect(pauses == [2, 4, 8, 16, 32, 64, 64, 64])
    }

    @Test(
        "reads the slots again twice, when the cluster is down or a redirect names no address",
        arguments: ["CLUSTERDOWN The cluster is down", "MOVED 1 ?:2", "ASK 1 ?:2", "LOADING"]
    )
    func down(text: String) {
        var route = CommandRoute()
        for _ in 0..<CommandRoute.renewals { #expect(route.next(after: reply(text)) == .againWithNewTopology) }
        #expect(route.next(after: reply(text)) == .fail(TierError(refusal: text)))
    }

    @Test("goes on after a failed connection only if the command cannot have run")
    func failures() {
        let error = TierError(.unreachable, "gone")
        var route = CommandRoute()
        #expect(route.next(after: .failure(RedisFailure(error, mayHaveRun: true))) == .fail(error))
        for _ in 0..<CommandRoute.renewals {
            #expect(route.next(after: .failure(RedisFailure(error, mayHaveRun: false))) == .againWithNewTopology)
        }
        #expect(route.next(after: .failure(RedisFailure(error, mayHaveRun: false))) == .fail(error))
    }

    @Test("fails with the reason why there are no slots")
    func unserved() {
        let error = TierError(.unreachable, "nothing listens")
        var route = CommandRoute()
        for _ in 0..<CommandRoute.renewals { #expect(route.next(after: .unserved(nil)) == .againWithNewTopology) }
        #expect(route.next(after: .unserved(error)) == .fail(error))
    }
}
#endif
