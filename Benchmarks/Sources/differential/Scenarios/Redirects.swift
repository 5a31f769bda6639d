import Foundation
import FoundationNetworking
import WaystationTesting

extension Scenario {
    /// Redirects with every status and kind of target, and with every decision of the delegate.
    static let redirects: [Scenario] =
        [301, 302, 303, 307, 308].flatMap { status in
            ["GET", "POST"].map { method in
                redirect("redirect/\(status)/\(method)", status: status, to: "/end?a=b") { stage in
                    let body = method == "POST" ? Data("posted".utf8) : nil
                    try await stage.load(.data, .delegate, stage.request("/start", method, body: body))
                }
            }
        } + [
            redirect("redirect/303/HEAD", status: 303, to: "/end") {
                try await $0.load(.data, .completion, $0.request("/start", "HEAD"))
            },
            redirect("redirect/305/GET", status: 305, to: "/end") {
                try await $0.load(.data, .completion, $0.request("/start"))
            },
            redirect("redirect/306/GET", status: 306, to: "/end") {
                try await $0.load(.data, .completion, $0.request("/start"))
            },
            redirect("redirect/302/completion", to: "/end", repeats: true) {
                try await $0.load(.data, .completion, $0.request("/start"))
            },
            redirect("redirect/302/async", to: "/end") {
                try await $0.load(.data, .async, $0.request("/start"))
            },
            redirect("redirect/302/task-delegate", to: "/end") {
                try await $0.load(.data, .taskDelegate, $0.request("/start"))
            },
            redirect("redirect/relative", to: "up/../end?x=%20#part") {
                try await $0.load(.data, .delegate, $0.request("/deep/start"))
            },
            redirect("redirect/body-is-dropped", to: "/end", body: "a body that nobody may see") {
                try await $0.load(.data, .delegate, $0.request("/start"))
            },
            Scenario("redirect/absolute") { request, _ in
                request.path == "/start"
                    ? .redirect(to: "http://\(request.value(of: "Host") ?? "")/end") : .ok("the end")
            } run: {
                try await $0.load(.data, .completion, $0.request("/start"))
            },
            crossOrigin("redirect/cross-origin-authorization", .delegate),
            crossOrigin("redirect/cross-origin-authorization/completion", .completion),
            Scenario("redirect/loop/delegate") { request, _ in
                .redirect(to: request.path == "/a" ? "/b" : "/a")
            } run: {
                try await $0.load(.data, .delegate, $0.request("/a"))
            },
            Scenario("redirect/loop/completion") { _, _ in
                .redirect(to: "/again")
            } run: {
                try await $0.load(.data, .completion, $0.request("/again"))
            },
            redirect("redirect/refused", to: "/end", body: "moved") { stage in
                let observer = Observer(stage.sightings, redirection: .refuse)
                try await stage.load(.data, .delegate, stage.request("/start"), observer: observer)
            },
            redirect("redirect/changed", to: "/end") { stage in
                let observer = Observer(stage.sightings, redirection: .change(to: "/elsewhere"))
                try await stage.load(.data, .delegate, stage.request("/start"), observer: observer)
            },
            Scenario("redirect/no-location") { _, _ in
                .status(302, body: Data("nowhere".utf8))
            } run: {
                try await $0.load(.data, .delegate, $0.request("/start"))
            },
            Scenario("redirect/sets-cookie") { request, _ in
                request.path == "/start"
                    ? .status(302, fields: ["Location": "/end", "Set-Cookie": "way=1; Path=/"]) : .ok("the end")
            } run: {
                try await $0.load(.data, .completion, $0.request("/start"))
            },
            Scenario("redirect/endless-body", stopsFoundation: true, required: ["status": "200", "error": "none"]) {
                request,
                _ in
                request.path == "/start" ? endless : .ok("the end")
            } run: {
                try await $0.load(.data, .completion, $0.request("/start"))
            },
            redirect("redirect/download", to: "/end") {
                try await $0.load(.download, .completion, $0.request("/start"))
            },
            redirect("redirect/upload-307", status: 307, to: "/end") {
                try await $0.load(.uploadData, .completion, $0.request("/start", "POST"))
            },
        ]

    /// Four gibibytes, sent as fast as the client reads.
    private static let endless = ScriptedOrigin.Response.stream(
        .init(repeating: .bytes(Data(repeating: 0x61, count: 1 << 16)), count: 1 << 16),
        status: 302,
        fields: ["Location": "/end"],
        framing: .declaredLength(1 << 32)
    )

    private static func redirect(
        _ name: String,
        status: Int = 302,
        to location: String,
        body: String = "",
        repeats: Bool = false,
        run: @escaping @Sendable (Stage) async throws -> Void
    ) -> Scenario {
        Scenario(name, repeats: repeats) { request, _ in
            request.path.hasSuffix("/start")
                ? .status(status, fields: ["Location": location], body: Data(body.utf8))
                : .ok("\(request.method) the end")
        } run: {
            try await run($0)
        }
    }

    private static func crossOrigin(_ name: String, _ way: Way) -> Scenario {
        Scenario(name) { _, props in
            .redirect(to: "http://127.0.0.1:\(props.otherPort)/landed")
        } run: { stage in
            var request = stage.request("/start")
            request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
            request.setValue("kept", forHTTPHeaderField: "X-Own")
            try await stage.load(.data, way, request)
        }
    }
}
