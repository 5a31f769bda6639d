import Foundation
import FoundationNetworking
import Measuring
import WaystationNIO
import WaystationTestSupport

extension Benchmark {
    /// Loads that use the network, beside the same loads by plain URLSession; nginx answers on loopback.
    static let network: [Benchmark] = [
        Benchmark("untouched/plain") {
            try await besidePlain("untouched", limit: 1.00, through: try .untouched(rules: 10_000))
        },
        Benchmark("forwarded/plain") {
            try await besidePlain("forwarded", limit: 1.10, through: try .network())
        },
        Benchmark("relayed/plain") {
            try await besidePlain("relayed", limit: nil, through: try .relayed())
        },
        Benchmark("nio-forwarded/plain") {
            try await besidePlain("nio-forwarded", limit: 0.75, through: try .network(by: .nio))
        },
        Benchmark("nio-new-connections/plain") {
            // nginx closes each connection after its response.
            try await besidePlain(
                "nio-new-connections",
                limit: 1.00,
                through: try .network(by: .nio),
                directives: "keepalive_timeout 0;"
            )
        },
    ]

    /// The cost of a login for a request with its token, beside a request under the same rule without a login.
    static let login = Benchmark("login/no-login") {
        let nginx = try Nginx()
        defer { nginx.stop() }
        let body = nginx.url("body.txt")
        try Floor.body.write(to: nginx.root.appendingPathComponent("body.txt"))
        var marked = URLComponents(url: body, resolvingAgainstBaseURL: false)
        marked?.queryItems = [URLQueryItem(name: "needAuth", value: "true")]
        let nobody = try InterceptedSession.login(on: "127.0.0.1", token: nil)
        let somebody = try InterceptedSession.login(on: "127.0.0.1", token: "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmVk")
        return try await Loads.ratio(
            "login/no-login",
            limit: 1.05,
            judged: .alone,
            rounds: 15,
            of: (
                "login", Loads(URLSession(configuration: somebody.configuration()), [marked?.url ?? body], count: 600)
            ),
            to: ("no-login", Loads(URLSession(configuration: nobody.configuration()), [body], count: 600))
        )
    }

    private static func besidePlain(
        _ name: String,
        limit: Double?,
        through intercepted: InterceptedSession,
        directives: String = ""
    ) async throws -> [Figure] {
        let nginx = try Nginx(directives: directives)
        defer { nginx.stop() }
        try Floor.body.write(to: nginx.root.appendingPathComponent("body.txt"))
        let urls = [nginx.url("body.txt")]
        return try await Loads.ratio(
            "\(name)/plain",
            limit: limit,
            judged: .alone,
            rounds: 15,
            of: (name, Loads(URLSession(configuration: intercepted.configuration()), urls, count: 600)),
            to: ("plain", Loads(URLSession(configuration: .default), urls, count: 600))
        )
    }

    /// The cost of a table of ten thousand rules beside one of ten.
    static let decisions = Benchmark("decide-10000-rules/decide-10-rules") {
        let few = try InterceptedSession.untouched(rules: 10)
        let many = try InterceptedSession.untouched(rules: 10_000)
        // The hosts and paths are some that rules match and some that they do not; both tables get the same requests.
        let requests = (0..<64).map { number in
            URLRequest(url: url(InterceptedSession.ruledURL(number % 20) + (number.isMultiple(of: 2) ? "x.html" : "")))
        }
        let rounds = 20_000
        func nanoseconds(_ intercepted: InterceptedSession) -> Double {
            let clock = ContinuousClock()
            var taken = 0
            let duration = clock.measure {
                for number in 0..<rounds where intercepted.takes(requests[number % requests.count]) { taken += 1 }
            }
            // The count is used, so that the compiler cannot remove the loop.
            return duration / .nanoseconds(1) / Double(rounds) + (taken < 0 ? 1 : 0)
        }
        let costs = try await interleaved(rounds: 15, [{ nanoseconds(few) }, { nanoseconds(many) }])
        return [
            Figure(
                "decide-10000-rules/decide-10-rules",
                costs[1] / costs[0],
                limit: 1.5,
                against: ["decide-10-ns": costs[0], "decide-10000-ns": costs[1]]
            )
        ]
    }
}
