import Foundation
import FoundationNetworking
import Synchronization
import WaystationTesting

extension Scenario {
    /// Cancelling, suspending, invalidating, and many loads at once.
    static let control: [Scenario] = [
        task("control/cancel-before-resume/completion", completing: true) { _, task in
            task.cancel()
            task.resume()
        },
        task("control/cancel-before-resume/delegate") { _, task in
            task.cancel()
            task.resume()
        },
        task("control/cancel-early/completion", script: held, completing: true) { stage, task in
            task.resume()
            await stage.origin.waitForRequests(1)
            task.cancel()
        },
        task("control/cancel-early/delegate", script: held) { stage, task in
            task.resume()
            await stage.origin.waitForRequests(1)
            task.cancel()
            await stage.noteAbandonment()
        },
        middle("control/cancel-middle") { _, task in task.cancel() },
        Scenario("control/cancel-middle/async", origin: half) { stage in
            let session = stage.session()
            let request = stage.request("/")
            let load = Task { try await session.data(for: request) }
            await stage.origin.waitForRequests(1)
            load.cancel()
            do {
                let (data, response) = try await load.value
                stage.completed(data, response, nil)
            } catch {
                stage.completed(nil, nil, error)
            }
        },
        Scenario("control/cancel-late") { _, _ in
            .ok("hello")
        } run: { stage in
            let session = stage.session(Observer(stage.sightings))
            let task = stage.task(.data, stage.request(), in: session, completing: false)
            task.resume()
            await stage.waitForEnd()
            // The delegate gets the end before the task's state changes.
            await withCheckedContinuation { told in session.delegateQueue.addOperation { told.resume() } }
            task.cancel()
            stage.sightings.note("state", "\(task.state.rawValue)")
        },
        task("control/cancel-twice", script: held) { stage, task in
            task.resume()
            await stage.origin.waitForRequests(1)
            task.cancel()
            task.cancel()
        },
        task("control/suspend-before") { stage, task in
            task.suspend()
            task.resume()
            stage.sightings.note("after one resume", "\(task.state.rawValue)")
            task.resume()
        },
        task("control/suspend-at-once") { _, task in
            task.resume()
            task.suspend()
            task.resume()
        },
        task("control/suspend-early", script: held) { stage, task in
            task.resume()
            await stage.origin.waitForRequests(1)
            task.suspend()
            stage.gate.open()
            task.resume()
        },
        middle("control/suspend-middle") { stage, task in
            task.suspend()
            stage.gate.open()
            task.resume()
        },
        middle("control/suspend-then-cancel") { _, task in
            task.suspend()
            task.cancel()
        },
        // The second call comes before the end, whose moment is another matter (trap L38).
        task("control/resume-twice", script: held) { stage, task in
            task.resume()
            task.resume()
            stage.gate.open()
        },
        middle("control/invalidate-and-cancel", endsAtInvalidation: true) { session, _ in
            session.invalidateAndCancel()
        },
        middle("control/finish-and-invalidate", endsAtInvalidation: true) { stage, session, _ in
            session.finishTasksAndInvalidate()
            stage.gate.open()
        },
        Scenario("control/disposition-cancel") { _, _ in
            .ok("hello")
        } run: { stage in
            let observer = Observer(stage.sightings, disposition: .cancel)
            try await stage.load(.data, .delegate, stage.request("/"), observer: observer)
        },
        Scenario("control/many-at-once", repeats: true) { request, _ in
            .ok("answer to \(request.target)")
        } run: { stage in
            let session = stage.session()
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<40 {
                    let request = stage.request("/\(number)")
                    group.addTask { String(decoding: try await session.data(for: request).0, as: UTF8.self) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            stage.sightings.note("answers", answers.sorted().joined(separator: ", "))
            stage.sightings.note("order", "of no matter")
            stage.sightings.end()
        },
        Scenario("control/two-sessions") { request, _ in
            .ok("answer to \(request.target)")
        } run: { stage in
            for target in ["/a", "/b"] {
                let (data, _) = try await stage.session().data(for: stage.request(target))
                stage.sightings.call(String(decoding: data, as: UTF8.self))
            }
            stage.sightings.end()
        },
        middle("control/cancel-download", kind: .download) { _, task in task.cancel() },
        task("control/cancel-upload", kind: .uploadData, script: held) { stage, task in
            task.resume()
            await stage.origin.waitForRequests(1)
            task.cancel()
        },
    ]

    private static let held: Script = { _, props in .ok("held").held(at: props.gate) }

    private static let half: Script = { _, props in
        .stream(
            [.bytes(Data("first".utf8)), .wait(props.gate), .bytes(Data("second".utf8))],
            fields: ["Content-Type": "text/plain"],
            framing: .contentLength
        )
    }

    /// Makes a scenario that controls the load's task itself.
    private static func task(
        _ name: String,
        kind: Kind = .data,
        script: @escaping Script = { _, _ in .ok("hello") },
        completing: Bool = false,
        run: @escaping @Sendable (Stage, URLSessionTask) async -> Void
    ) -> Scenario {
        Scenario(name, origin: script) { stage in
            let session = stage.session(completing ? nil : Observer(stage.sightings))
            let request = stage.request("/", kind == .data ? "GET" : "POST")
            await run(stage, stage.task(kind, request, in: session, completing: completing))
        }
    }

    /// Makes a scenario that acts on a load when the first half of its body has arrived and the origin holds the second
    /// half.
    private static func middle(
        _ name: String,
        kind: Kind = .data,
        endsAtInvalidation: Bool = false,
        happening: @escaping @Sendable (Stage, URLSession, URLSessionTask) -> Void
    ) -> Scenario {
        Scenario(name, origin: half) { stage in
            let once = Once()
            let observer = Observer(stage.sightings, endsAtInvalidation: endsAtInvalidation) { session, task in
                if once.isFirst() { happening(stage, session, task) }
            }
            try await stage.load(kind, .delegate, stage.request("/"), observer: observer)
        }
    }
}

extension Scenario {
    fileprivate static func middle(
        _ name: String,
        kind: Kind = .data,
        happening: @escaping @Sendable (Stage, URLSessionTask) -> Void
    ) -> Scenario {
        middle(name, kind: kind) { stage, _, task in happening(stage, task) }
    }

    fileprivate static func middle(
        _ name: String,
        endsAtInvalidation: Bool,
        happening: @escaping @Sendable (URLSession, URLSessionTask) -> Void
    ) -> Scenario {
        middle(name, endsAtInvalidation: endsAtInvalidation) { _, session, task in happening(session, task) }
    }
}

extension Stage {
    /// Records that the origin noticed that its client left.
    fileprivate func noteAbandonment() async {
        await origin.waitForAbandonedRequests(1)
        sightings.note("abandoned", "\(origin.abandonedRequests.count)")
    }
}

/// Returns true the first time, then false.
private final class Once: Sendable {
    private let hasHappened = Mutex(false)

    func isFirst() -> Bool {
        hasHappened.withLock { hasHappened in
            defer { hasHappened = true }
            return !hasHappened
        }
    }
}
