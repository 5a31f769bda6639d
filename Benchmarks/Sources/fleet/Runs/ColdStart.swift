import Foundation
import FoundationNetworking
import Glibc
@_spi(Processes) import Measuring
import Synchronization
import Waystation
import WaystationProcesses
import WaystationTestSupport
import WaystationTesting

/// Processes with empty disks that load the same URLs at once, each in the same order.
struct ColdStart {
    static let width = 16

    let processes: Int
    let urls: Int

    struct Results {
        var requests = 0
        var seconds = 0.0
        var wrong: [String] = []
    }

    /// Runs the processes, with or without Redis.
    func run(isShared: Bool) throws -> Results {
        let scratch = try ScratchDirectory()
        let server = try RedisServer()
        defer { server.stop() }
        let origin = try ScriptedOrigin(keepsRequests: false) { request in
            usleep(FleetOrigin.delay)
            let body = Pattern.body(Int(request.path.dropFirst()) ?? 0, count: 16 << 10)
            return .ok(
                body,
                fields: ["Cache-Control": "max-age=3600", FleetOrigin.Field.digest: FleetOrigin.digest(of: body)]
            )
        }
        defer { origin.stop() }
        let begin = ContinuousClock.now
        let members = try (0..<processes).map { seat in
            try SpawnedProcess(
                ChildProcess.program,
                [
                    "--cold", scratch.url.appendingPathComponent("machine-\(seat)").path, origin.url("").absoluteString,
                    isShared ? "\(server.port)" : "none", "\(urls)",
                ],
                output: .lines,
                errors: .lines
            )
        }
        var results = Results()
        for member in members {
            member.endInput()
            while let line = member.readLine() {
                // A process also prints the warnings of its log.
                if line.hasPrefix("wrong ") { results.wrong.append(line) }
            }
            if member.wait(idleFor: 60) != .exited(0) { results.wrong.append("a process did not end well") }
        }
        results.seconds = begin.duration(to: .now) / .seconds(1)
        results.requests = origin.requestCount
        return results
    }

    /// Loads all URLs, in a process of the fleet.
    static func load(_ directory: String, _ origin: String, _ port: Int?, _ urls: Int) async throws {
        let cache = try ResponseCache.fleet(directory, port: port)
        let session = URLSession(configuration: .ephemeral.intercepted(by: try .fleet(cache)))
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<width {
                group.addTask {
                    for number in stride(from: worker, to: urls, by: width) {
                        guard let url = URL(string: "\(origin)/\(number)") else { continue }
                        do {
                            let (body, response) = try await session.data(from: url)
                            let digest = (response as? HTTPURLResponse)?.value(
                                forHTTPHeaderField: FleetOrigin.Field.digest
                            )
                            if digest != FleetOrigin.digest(of: body) || body != Pattern.body(number, count: 16 << 10) {
                                say("wrong /\(number): \(body.count) bytes")
                            }
                        } catch {
                            say("wrong /\(number): \(error)")
                        }
                    }
                }
            }
        }
        // Other processes may wait for the last responses.
        await cache.flush()
    }
}
