import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("The journey of a load, for a client that is no task", .timeLimit(.minutes(10)))
struct JourneyTests {
    private let start = "https://a.example/start"

    private func load(
        _ request: URLRequest? = nil,
        through transport: ScriptedTransport,
        _ client: RecordingJourneyClient
    ) throws -> Journey {
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://*.example/**", via: .network)]
            $0.makeTransport = { _ in transport }
        }
        return Journey(client, try request ?? URLRequest("GET", start), by: interceptor)
    }

    /// Waits until the head and the body have arrived at a load, whether they are delivered or not.
    private func arrival(of load: Journey) async {
        #expect(await eventually { load.state.withLock { $0.isExplained } })
    }

    @Test("passes on head, parts and end in order, and tags the request")
    func plain() async throws {
        let transport = ScriptedTransport { _ in
            ScriptedTransport.Answer([
                .sent(1, total: 1, expected: 2), .sent(1, total: 2, expected: 2), .head(200), .part(Data("a".utf8)),
                .part(Data("b".utf8)), .end,
            ])
        }
        let client = RecordingJourneyClient()
        try load(through: transport, client).begin()
        #expect(
            await client.completion() == [
                .sent(1, total: 1, expected: 2), .sent(1, total: 2, expected: 2), .head(200, of: start), .part("a"),
                .part("b"), .end(nil),
            ]
        )
        #expect(transport.requests.map { ForwardingTag.isTagged($0) } == [true])
    }

    @Test("follows a redirect without passing on its body, and reports the head with the last request")
    func redirected() async throws {
        let transport = ScriptedTransport { request in
            request.url?.path == "/start"
                ? .status(302, fields: ["Location": "/there"], body: Data("moved".utf8)) : .ok("there")
        }
        let client = RecordingJourneyClient()
        try load(through: transport, client).begin()
        let there = "https://a.example/there"
        #expect(
            await client.completion() == [
                .follow(302, to: there), .head(200, of: there), .part("there"), .end(nil),
            ]
        )
        #expect(transport.requests.allSatisfy { ForwardingTag.isTagged($0) })
    }

    @Test(
        "cancels the exchange of a redirect whose body is too long also when it arrives within the exchange's start",
        arguments: [false, true]
    )
    func endlessRedirectAtOnce(isCached: Bool) async throws {
        let folder = try TemporaryDirectory()
        let start = start
        let transport = DrivenTransport(
            startsOnAnyQueue: true,
            onStart: { number, receiver in
                let fields = ["Location": "/there", "Cache-Control": "no-store"]
                guard let redirect = try? ResponseHead.head(302, fields, at: start),
                    let head = try? ResponseHead.head(200, at: "https://a.example/there")
                else { return }
                guard number == 2 else {
                    receiver.transportDidReceive(head)
                    return receiver.transportDidEnd(nil)
                }
                receiver.transportDidReceive(redirect)
                // The exchange sends more after its start.
                for _ in 1...3 { receiver.transportDidReceive(Data(repeating: 7, count: 1 << 20)) }
            }
        )
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://*.example/**", via: isCached ? .cache(.standard) : .network)]
            $0.cache = try ResponseCache(directory: folder.url, environment: .patient)
            $0.makeTransport = { _ in transport }
        }
        // The first request makes the transport, on a global queue.
        let network = interceptor.makeNetwork(.ephemeral)
        for url in ["https://a.example/there", start] {
            let client = RecordingJourneyClient()
            try Journey(client, try URLRequest("GET", url), by: interceptor, through: network).begin()
            #expect(await client.completion().last == .end(nil))
        }
        #expect(await eventually { transport.calls == [.cancel] })
        #expect(transport.count == 3)
    }

    @Test("follows a stored redirect that stands in at the moment in which the network fails")
    func standInAtFailure() async throws {
        let (folder, clock) = (try TemporaryDirectory(), ManualClock())
        let there = "https://a.example/there"
        let start = start
        let transport = DrivenTransport(
            startsOnAnyQueue: true,
            onStart: { number, receiver in
                let fields = ["Location": "/there", "Cache-Control": "max-age=60"]
                guard let redirect = try? ResponseHead.head(301, fields, at: start),
                    let head = try? ResponseHead.head(200, ["Cache-Control": "no-store"], at: there)
                else { return }
                // The third request is the second one for the redirect, and gets no answer.
                guard number != 3 else { return }
                receiver.transportDidReceive(number == 1 ? redirect : head)
                receiver.transportDidEnd(nil)
            }
        )
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://*.example/**", via: .cache(.networkFirst(timeout: .seconds(3))))]
            $0.cache = try ResponseCache(directory: folder.url, environment: .patient)
            $0.schedule = clock.schedule
            $0.makeTransport = { _ in transport }
        }
        let expected: [RecordingJourneyClient.Call] = [.follow(301, to: there), .head(200, of: there), .end(nil)]
        let first = RecordingJourneyClient()
        try Journey(first, try URLRequest("GET", start), by: interceptor).begin()
        #expect(await first.completion() == expected)

        let client = RecordingJourneyClient()
        let load = Journey(client, try URLRequest("GET", start), by: interceptor)
        try load.begin()
        #expect(await eventually { transport.count == 3 })
        // Between the arrival of the failure and the search for a stored response, the time of the strategy passes on
        // another thread.
        let action = load.state.withLock {
            $0.course.receiveEnd(URLError(.notConnectedToInternet), for: $0.course.trip)
        }
        clock.fire()
        load.perform(action)
        #expect(await client.completion() == expected)
    }

    @Test("lets the client change the request that follows a redirect")
    func changedRedirect() async throws {
        let transport = ScriptedTransport { $0.url?.path == "/start" ? .redirect(to: "/there") : .ok() }
        let client = RecordingJourneyClient(follow: { next in
            var next = next
            next.setValue("1", forHTTPHeaderField: "X-Changed")
            return next
        })
        try load(through: transport, client).begin()
        _ = await client.completion()
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "X-Changed") } == [nil, "1"])
    }

    @Test("passes on a redirect that the client refuses, with its body")
    func refusedRedirect() async throws {
        let transport = ScriptedTransport { _ in
            .status(302, fields: ["Location": "/there"], body: Data("moved".utf8))
        }
        let client = RecordingJourneyClient(follow: { _ in nil })
        try load(through: transport, client).begin()
        #expect(
            await client.completion() == [
                .follow(302, to: "https://a.example/there"), .head(302, of: start), .part("moved"), .end(nil),
            ]
        )
        #expect(transport.requests.count == 1)
    }

    @Test("fails with Foundation's codes at an endless redirect and at an unsupported scheme")
    func badRedirects() async throws {
        let loop = ScriptedTransport { _ in .redirect(to: "/again") }
        let client = RecordingJourneyClient()
        try load(through: loop, client).begin()
        #expect(await client.completion().last == .end(.httpTooManyRedirects))
        #expect(loop.requests.count == RedirectPolicy.limit + 1)

        let nowhere = RecordingJourneyClient()
        try load(through: ScriptedTransport { _ in .redirect(to: "ftp://a.example/") }, nowhere).begin()
        #expect(await nowhere.completion() == [.end(.unsupportedURL)])
    }

    @Test("passes on a refusal, then the challenge, and sends the same request again with the credential")
    func challenged() async throws {
        let transport = ScriptedTransport { request in
            request.value(forHTTPHeaderField: "Authorization") == "Basic dTpw"
                ? .ok("yes") : .status(401, fields: ["WWW-Authenticate": "Basic realm=r"], body: Data("no".utf8))
        }
        let client = RecordingJourneyClient(challenged: { challenge in
            let isSecond = challenge.previousFailureCount > 0
            let credential = URLCredential(user: "u", password: isSecond ? "p" : "wrong", persistence: .none)
            return ChallengeAnswer(.useCredential, credential, for: challenge)
        })
        let request = try URLRequest("PUT", start, ["X-Mine": "1"], body: "b")
        try load(request, through: transport, client).begin()
        #expect(
            await client.completion() == [
                .head(401, of: start), .part("no"), .challenge(failures: 0, proposed: nil), .head(401, of: start),
                .part("no"), .challenge(failures: 1, proposed: nil), .head(200, of: start), .part("yes"), .end(nil),
            ]
        )
        #expect(transport.requests.map(\.httpMethod) == ["PUT", "PUT", "PUT"])
        #expect(transport.requests.allSatisfy { $0.httpBody == Data("b".utf8) })
        #expect(transport.requests.allSatisfy { $0.value(forHTTPHeaderField: "X-Mine") == "1" })
    }

    @Test("ends with the refusal when the challenge is not answered", arguments: ["Basic realm=r", "Bearer", nil])
    func unanswered(field: String?) async throws {
        let transport = ScriptedTransport { _ in
            .status(401, fields: field.map { ["WWW-Authenticate": $0] } ?? [:])
        }
        let client = RecordingJourneyClient()
        try load(through: transport, client).begin()
        let calls = await client.completion()
        #expect(calls.first == .head(401, of: start))
        #expect(calls.last == .end(nil))
        #expect(calls.contains(.challenge(failures: 0, proposed: nil)) == (field == "Basic realm=r"))
        #expect(transport.requests.count == 1)
    }

    @Test("ends as cancelled when the client cancels a challenge")
    func cancelledChallenge() async throws {
        let transport = ScriptedTransport { _ in .status(401, fields: ["WWW-Authenticate": "Basic realm=r"]) }
        let client = RecordingJourneyClient(challenged: { _ in .cancel })
        try load(through: transport, client).begin()
        #expect(await client.completion().last == .end(.cancelled))
    }

    @Test("limits the number of challenges to the limit of redirects")
    func stubbornClient() async throws {
        let transport = ScriptedTransport { _ in .status(401, fields: ["WWW-Authenticate": "Basic realm=r"]) }
        let client = RecordingJourneyClient(challenged: {
            ChallengeAnswer(.useCredential, URLCredential(user: "u", password: "p", persistence: .none), for: $0)
        })
        try load(through: transport, client).begin()
        #expect(await client.completion().last == .end(nil))
        #expect(transport.requests.count == RedirectPolicy.limit + 1)
    }

    @Test("does not send a challenge's credentials when a redirect leaves the origin")
    func challengeThenRedirect() async throws {
        let transport = ScriptedTransport { request in
            if request.url?.host == "b.example" { return .ok() }
            return request.value(forHTTPHeaderField: "Authorization") == nil
                ? .status(401, fields: ["WWW-Authenticate": "Basic realm=r"])
                : .redirect(to: "https://b.example/there")
        }
        let client = RecordingJourneyClient(challenged: {
            ChallengeAnswer(.useCredential, URLCredential(user: "u", password: "p", persistence: .none), for: $0)
        })
        try load(through: transport, client).begin()
        _ = await client.completion()
        #expect(
            transport.requests.map { $0.value(forHTTPHeaderField: "Authorization") } == [nil, "Basic dTpw", nil]
        )
    }

    @Test("passes on an error unchanged, before the head or after it")
    func failed() async throws {
        let dead = RecordingJourneyClient()
        try load(through: ScriptedTransport { _ in .failed(.cannotFindHost) }, dead).begin()
        #expect(await dead.completion() == [.end(.cannotFindHost)])

        let broken = RecordingJourneyClient()
        let transport = ScriptedTransport { _ in
            ScriptedTransport.Answer([.head(200), .part(Data("a".utf8)), .error(URLError(.networkConnectionLost))])
        }
        try load(through: transport, broken).begin()
        #expect(
            await broken.completion() == [.head(200, of: start), .part("a"), .end(.networkConnectionLost)]
        )
    }

    @Test("fails when the transport ends without a head")
    func headless() async throws {
        let client = RecordingJourneyClient()
        try load(through: ScriptedTransport { _ in ScriptedTransport.Answer([.end]) }, client).begin()
        #expect(await client.completion() == [.end(.badServerResponse)])
    }

    @Test("stops the traffic at a cancel, and makes no more calls to the client")
    func cancelled() async throws {
        let gate = ScriptedTransport.Gate()
        let transport = ScriptedTransport { _ in
            ScriptedTransport.Answer([.head(200), .part(Data("a".utf8)), .wait(gate), .part(Data("b".utf8)), .end])
        }
        let (parts, received) = AsyncStream<Data>.makeStream()
        let client = RecordingJourneyClient(received: { received.yield($0) })
        let load = try load(through: transport, client)
        try load.begin()
        for await _ in parts { break }
        load.cancel()
        #expect(await transport.waitForCancelledRequests(1).map { $0.url?.absoluteString } == [start])
        gate.open()
        // Calls that the transport makes after the cancel are not passed on.
        let late = HopReceiver(journey: load, trip: 1)
        late.transportDidReceive(Data("c".utf8))
        late.transportDidReceive(try .head(200))
        late.transportDidSend(1, total: 1, expected: 1)
        late.transportDidEnd(nil)
        client.settle()
        #expect(client.calls == [.head(200, of: start), .part("a")])
    }

    @Test("sends nothing when it is cancelled before its start")
    func cancelledBeforeStart() async throws {
        let transport = ScriptedTransport { _ in .ok() }
        let client = RecordingJourneyClient()
        let load = try load(through: transport, client)
        load.cancel()
        try load.begin()
        // A later load uses the same queues, so a request of the first one would have been sent before it.
        let later = RecordingJourneyClient()
        try self.load(URLRequest("GET", "https://a.example/later"), through: transport, later).begin()
        _ = await later.completion()
        client.settle()
        #expect(transport.requests.map { $0.url?.path } == ["/later"])
        #expect(client.calls.isEmpty)
    }

    @Test("delivers nothing more to a client that is not ready, until it continues")
    func notReady() async throws {
        let transport = ScriptedTransport { _ in .ok("body") }
        let client = RecordingJourneyClient()
        client.isReady = false
        let load = try load(through: transport, client)
        try load.begin()
        await arrival(of: load)
        client.settle()
        #expect(client.calls.isEmpty)
        client.isReady = true
        load.continueDelivery()
        #expect(await client.completion() == [.head(200, of: start), .part("body"), .end(nil)])
    }

    @Test("ends as cancelled when the client refuses the head")
    func refusedHead() async throws {
        let client = RecordingJourneyClient(accepts: { _ in false })
        try load(through: ScriptedTransport { _ in .ok("body") }, client).begin()
        #expect(await client.completion() == [.head(200, of: start), .end(.cancelled)])
    }

    @Test("delivers nothing while it is suspended")
    func suspended() async throws {
        let gate = ScriptedTransport.Gate()
        let transport = ScriptedTransport { _ in
            ScriptedTransport.Answer([.wait(gate), .head(200), .part(Data("a".utf8)), .end])
        }
        let client = RecordingJourneyClient()
        let load = try load(through: transport, client)
        try load.begin()
        await transport.waitForRequests(1)
        load.suspend()
        gate.open()
        await arrival(of: load)
        client.settle()
        #expect(client.calls.isEmpty)
        load.start()
        #expect(await client.completion() == [.head(200, of: start), .part("a"), .end(nil)])
    }
}
