import Foundation
import FoundationNetworking
import Measuring
import WaystationTesting

extension Scenario {
    /// Every kind of task, with every way to wait for it.
    static let kinds: [Scenario] =
        [.data, .download].flatMap { kind in
            Way.allCases.map { way in
                Scenario("\(kind.rawValue)/\(way.rawValue)", repeats: kind == .data) { _, _ in
                    .ok("hello", fields: ["Content-Type": "text/plain; charset=utf-8", "ETag": "\"1\""])
                } run: {
                    try await $0.load(kind, way, $0.request("/hello.txt"))
                }
            }
        } + uploads + webSockets

    private static let uploads: [Scenario] = [
        (Kind.uploadData, Way.allCases), (.uploadFile, Way.allCases), (.uploadStream, [.delegate, .taskDelegate]),
    ].flatMap { kind, ways in
        ways.map { way in
            Scenario("\(kind.rawValue)/\(way.rawValue)", isHandedBack: true) { request, _ in
                .ok("took \(Fingerprint(request.body))")
            } run: {
                var request = $0.request("/upload", "POST")
                request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
                try await $0.load(kind, way, request)
            }
        }
    }

    private static let webSockets: [Scenario] = [
        webSocket("web-socket/completion") { stage, task in
            task.resume()
            task.send(.string("hello")) { error in
                stage.sightings.call("sent \(error.map(Sightings.describe) ?? "well")")
                task.receive { result in
                    stage.note(result)
                    task.cancel(with: .normalClosure, reason: nil)
                    stage.sightings.end()
                }
            }
        },
        webSocket("web-socket/async") { stage, task in
            task.resume()
            do {
                try await task.send(.data(Data([1, 2, 3])))
                stage.note(.success(try await task.receive()))
            } catch {
                stage.sightings.note(error)
            }
            task.cancel(with: .goingAway, reason: nil)
            stage.sightings.end()
        },
        webSocket("web-socket/delegate", hasDelegate: true) { _, task in
            task.resume()
            try? await task.send(.string("hello"))
            _ = try? await task.receive()
            task.cancel(with: .normalClosure, reason: nil)
        },
    ]

    private static func webSocket(
        _ name: String,
        hasDelegate: Bool = false,
        run: @escaping @Sendable (Stage, URLSessionWebSocketTask) async -> Void
    ) -> Scenario {
        Scenario(name) { _, _ in
            .webSocketEcho
        } run: { stage in
            guard let url = URL(string: "ws://127.0.0.1:\(stage.origin.port)/socket") else { return }
            let session = stage.session(hasDelegate ? Observer(stage.sightings) : nil)
            await run(stage, session.webSocketTask(with: url))
        }
    }
}

extension Stage {
    fileprivate func note(_ result: Result<URLSessionWebSocketTask.Message, any Error>) {
        switch result {
        case .success(.string(let text)): sightings.call("received text \(text)")
        case .success(.data(let data)): sightings.call("received data \(Fingerprint(data))")
        case .success: sightings.call("received something else")
        case .failure(let error): sightings.note(error)
        }
    }
}
