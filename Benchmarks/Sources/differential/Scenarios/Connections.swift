import Foundation
import FoundationNetworking
import WaystationTesting

extension Scenario {
    /// Connections that are kept, shared or stale, and responses that come before the request is complete.
    static let connections: [Scenario] = stale + early + shared + addresses + timed

    /// Requests on a connection that the origin ends when they arrive.
    private static let stale: [Scenario] = [
        stale("stale/closed/GET", "GET", .closed),
        // libcurl asks Foundation to rewind the body, and neither of them continues.
        stale("stale/closed/POST", "POST", .closed, stopsFoundation: true, required: ["status": "200"]),
        stale("stale/closed/PUT", "PUT", .closed, stopsFoundation: true, required: ["status": "200"]),
        stale("stale/reset/GET", "GET", .reset),
        stale(
            "stale/within-head/GET",
            "GET",
            .raw(Data("HTTP/1.1 200 OK\r\nContent-".utf8)),
            stopsFoundation: true,
            required: ["status": "none"]
        ),
        stale("stale/before-request/GET", "GET", first: .stream([.bytes(Data("first".utf8)), .close], framing: five)),
        stale(
            "stale/before-request/POST",
            "POST",
            first: .stream([.bytes(Data("first".utf8)), .close], framing: five)
        ),
        Scenario("stale/new-connection-too/GET") { request, _ in
            request.path == "/second" ? .closed : .ok("first")
        } run: {
            try await $0.loadAfterFirst("GET")
        },
        Scenario("stale/three-connections/GET") { request, props in
            switch request.path {
            case "/second": request.connection < 3 ? .closed : .ok("second")
            default: .ok("first").held(at: props.gate)
            }
        } run: { stage in
            let session = stage.session()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<3 {
                    let request = stage.request("/\(number)")
                    group.addTask { _ = try await session.data(for: request) }
                }
                await stage.origin.waitForRequests(3)
                stage.gate.open()
                try await group.waitForAll()
            }
            session.dataTask(with: stage.request("/second"), completionHandler: stage.completed).resume()
            stage.sightings.note("order", "of no matter")
        },
    ]

    private static let five = ScriptedOrigin.Response.Framing.declaredLength(5)

    private static func stale(
        _ name: String,
        _ method: String,
        _ fault: ScriptedOrigin.Response = .ok("second"),
        first: ScriptedOrigin.Response = .ok("first"),
        stopsFoundation: Bool = false,
        required: [String: String] = [:]
    ) -> Scenario {
        Scenario(name, stopsFoundation: stopsFoundation, required: required) { request, _ in
            request.path == "/first" ? first : request.connection == 0 ? fault : .ok("second")
        } run: {
            try await $0.loadAfterFirst(method)
        }
    }

    /// Responses to requests whose bodies the origin does not read.
    private static let early: [Scenario] = [
        refused("early/413/PUT", 413, size: 4 << 20),
        refused("early/413/small-PUT", 413, size: 300 << 10),
        refused("early/200/PUT", 200, size: 4 << 20),
        refused("early/417/PUT", 417, size: 4 << 20),
    ]

    private static func refused(_ name: String, _ status: Int, size: Int) -> Scenario {
        Scenario(
            name,
            early: { _ in .status(status, fields: ["Connection": "close"], body: Data("early".utf8)) },
            origin: { _, _ in .ok("late") },
            run: { stage in
                let body = Data(repeating: 0x61, count: size)
                try await stage.load(.data, .completion, stage.request("/large", "PUT", body: body))
            }
        )
    }

    /// How many connections lead to the origin.
    private static let shared: [Scenario] = [
        Scenario("shared/one-after-the-other") { request, _ in
            .ok("answer to \(request.target)")
        } run: { stage in
            let session = stage.session()
            for number in 0..<5 {
                let (data, _) = try await session.data(for: stage.request("/\(number)"))
                stage.sightings.call(String(decoding: data, as: UTF8.self))
            }
            stage.note(connectionsOf: stage.origin)
            stage.sightings.end()
        },
        atOnce("shared/six-of-twelve", connections: 6) { _ in },
        atOnce("shared/two-of-twelve", connections: 2) { $0.httpMaximumConnectionsPerHost = 2 },
    ]

    /// Makes a scenario of twelve loads that the origin holds until as many as there may be connections have arrived.
    private static func atOnce(
        _ name: String,
        connections: Int,
        _ change: @escaping @Sendable (URLSessionConfiguration) -> Void
    ) -> Scenario {
        Scenario(name) { request, props in
            .ok("answer to \(request.target)").held(at: props.gate)
        } run: { stage in
            let session = stage.session(nil, change)
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<12 {
                    let request = stage.request("/\(number)")
                    group.addTask { String(decoding: try await session.data(for: request).0, as: UTF8.self) }
                }
                await stage.origin.waitForRequests(connections)
                // Afterwards, libcurl may close a connection and open another one.
                stage.note(connectionsOf: stage.origin)
                stage.gate.open()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            stage.sightings.note("answers", answers.sorted().joined(separator: ", "))
            stage.sightings.note("order", "of no matter")
            stage.sightings.end()
        }
    }

    /// Addresses that do not answer, of a host that may have another one.
    private static let addresses: [Scenario] = [
        Scenario("address/drops-packets", setting: Setting(blackHole: .ipv4)) { _, _ in
            .ok()
        } run: { stage in
            try await stage.load(.data, .completion, from: "http://127.0.0.1:\(stage.servers.blackHole?.port ?? 0)/") {
                $0.timeoutInterval = 1
            }
        },
        Scenario(
            "address/IPv6-drops-packets",
            setting: Setting(hasNameWithTwoAddresses: true, blackHole: .ipv6BesideOrigin)
        ) { _, _ in
            .ok("by IPv4")
        } run: {
            try await $0.load(.data, .completion, from: "http://both.test:\($0.origin.port)/")
        },
        Scenario("address/IPv6-refuses", setting: Setting(hasNameWithTwoAddresses: true)) { _, _ in
            .ok("by IPv4")
        } run: {
            try await $0.load(.data, .completion, from: "http://both.test:\($0.origin.port)/")
        },
    ]

    /// Loads that a time-out ends, or does not end.
    private static let timed: [Scenario] = [
        Scenario("timed/each-part-starts-the-time-anew") { _, props in
            .stream(
                [.bytes(Data("0".utf8))]
                    + props.laterGates.enumerated().flatMap { [.wait($1), .bytes(Data("\($0)".utf8))] }
            )
        } run: { stage in
            var request = stage.request("/")
            // Each part has three times as long as it takes, and all of them take longer together than one may.
            request.timeoutInterval = 15
            try await stage.load(.data, .completion, request)
            await stage.openLaterGates(every: .milliseconds(5_300))
        },
        Scenario("timed/resource-time-is-ignored") { _, props in
            .stream([.bytes(Data("first ".utf8)), .wait(props.gate), .bytes(Data("second".utf8))])
        } run: { stage in
            try await stage.load(.data, .completion, stage.request("/")) { $0.timeoutIntervalForResource = 0.3 }
            try await Task.sleep(for: .milliseconds(900))
            stage.gate.open()
        },
    ]
}

extension Stage {
    /// Loads `/first`, and then observes a load of `/second` with the same method in the same session.
    fileprivate func loadAfterFirst(_ method: String) async throws {
        let session = session()
        let body = method == "GET" ? nil : Data("posted".utf8)
        _ = try await session.data(for: request("/first", method, body: body))
        session.dataTask(with: request("/second", method, body: body), completionHandler: completed).resume()
        await waitForEnd()
        note(connectionsOf: origin)
    }

    /// Opens the gates one after the other.
    fileprivate func openLaterGates(every time: Duration) async {
        for gate in servers.laterGates {
            try? await Task.sleep(for: time)
            gate.open()
        }
    }

    func note(connectionsOf server: ScriptedOrigin) { sightings.note("connections", "\(server.connectionCount)") }
}
