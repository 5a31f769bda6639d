import Foundation
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPacks

/// Fails each file operation of an update in turn, and kills a real process (SIGKILL) before many of them.
@Suite("An update that is interrupted")
struct CrashTests {
    @Test(
        "leaves the old version or the new one after any failed operation, and the next check completes it",
        arguments: UpdateWay.allCases
    )
    func failures(_ way: UpdateWay) async throws {
        let stage = try await UpdateStage(way)
        for code in [EIO, ENOSPC] {
            var point = 1
            while true {
                let trial = try stage.copy()
                let fault = Fault(at: point, code: code)
                let hasFailed = try await Self.update(
                    in: trial,
                    through: FaultyFileSystem { operation, path in try fault.step(operation, path) }
                )
                guard fault.hasHappened else { break }
                try await Self.inspect(trial, "\(way) \(point) \(code) failed: \(hasFailed)")
                point += 1
            }
            #expect(point > 100, "\(way) made only \(point) operations")
        }
    }

    @Test(
        "leaves the old or the new version, whole and served, after a kill; the next check completes the update",
        arguments: UpdateWay.allCases
    )
    func kills(_ way: UpdateWay) async throws {
        let stage = try await UpdateStage(way)
        let steps = try await Self.steps(stage)
        let points = Self.killPoints(steps)
        #expect(points.count >= 100, "\(way) made only \(steps.count) operations")
        var left: [String: Int] = [:]
        for point in points {
            let trial = try stage.copy()
            let path = trial.path(percentEncoded: false)
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, point = point as Int] in
                let fault = Fault(at: point, code: nil)
                let fileSystem = FaultyFileSystem { operation, path in try fault.step(operation, path) }
                _ = try? await CrashTests.update(in: URL(fileURLWithPath: path), through: fileSystem)
                // The update ended before the operation at which the process should have been killed.
                kill(getpid(), SIGKILL)
            }
            left[try await Self.inspect(trial, "\(way) killed at \(steps[point - 1])"), default: 0] += 1
            try FileManager.default.removeItem(at: trial)
        }
        // Otherwise all kills would have come before, or after, the change that they should interrupt.
        #expect(left.count == 2, "\(way): \(left)")
    }

    /// Every operation of an undisturbed update.
    private static func steps(_ stage: UpdateStage) async throws -> [Fault.Step] {
        let watch = Fault(at: .max, code: nil)
        let trial = try stage.copy()
        #expect(try await !update(in: trial, through: FaultyFileSystem { try watch.step($0, $1) }))
        return watch.steps(in: trial.appending(path: "library"))
    }

    /// A hundred operations spread evenly over the whole update, the first of each kind in each place, and every
    /// operation from the placing of the new version on.
    private static func killPoints(_ steps: [Fault.Step]) -> [Int] {
        var points = Set((0..<100).map { 1 + $0 * steps.count / 100 })
        var seen: Set<String> = []
        for (index, step) in steps.enumerated() where seen.insert("\(step.operation) \(step.place)").inserted {
            points.insert(index + 1)
        }
        if let placing = steps.firstIndex(where: { $0.operation == .rename && $0.place == "staging" }) {
            points.formUnion(placing + 1...steps.count)
        } else {
            Issue.record("no version is placed")
        }
        return points.sorted()
    }

    /// Opens a library over a file system, and updates it; returns whether that failed.
    private static func update(in trial: URL, through fileSystem: any FileSystem) async throws -> Bool {
        do {
            let report = try await PackUpdater(ofTrial: trial, fileSystem).check(isForced: true)
            return report.outcomes.contains { if case .failed = $0.kind { true } else { false } }
        } catch is PackError {
            return true
        }
    }

    /// The names in a library's directory while nothing works in it.
    private static let rootNames: Set = [
        "lock", "modules", "staging", "downloads", "updater.lock", "updater.json", "updater-copy.json",
    ]

    /// Checks the state after an interrupted update, and completes it; returns the version that was left.
    @discardableResult
    private static func inspect(_ trial: URL, _ what: String) async throws -> String {
        // First without a server: the installed version must be served, and a check that fails must not change that.
        let before = try await offline(trial, what)
        let updater = try PackUpdater(ofTrial: trial)
        let library = updater.library
        #expect(try library.servedVersion(what) == before)
        // The stage's updaters do not pause after a failure.
        let report = try await updater.check(isForced: true)
        #expect(try library.servedVersion(what) == "1.1", "\(what): \(report)")
        #expect(try await library.verify().isEmpty, "\(what)")
        let folders = try FileManager.default.contentsOfDirectory(atPath: library.layout.module(.shop))
        let versions = library.module(.shop)?.versions.count ?? 0
        #expect(folders.count == 1 + versions, "\(what): \(folders)")
        let staging = try FileManager.default.contentsOfDirectory(atPath: library.layout.staging)
        #expect(staging.isEmpty, "\(what)")
        let names = try FileManager.default.contentsOfDirectory(atPath: library.layout.root)
        #expect(rootNames.isSuperset(of: names), "\(what): \(names)")
        return before
    }

    private static func offline(_ trial: URL, _ what: String) async throws -> String {
        let server = ScriptedServer()
        server.failure.withLock { $0 = PackError(.network, "there is no network") }
        let updater = try PackUpdater(ofTrial: trial, from: server)
        let before = try updater.library.servedVersion(what)
        #expect(["1.0", "1.1"].contains(before), "\(what)")
        let error = await #expect(throws: PackError.self) { try await updater.check(isForced: true) }
        #expect(error?.code == .network, "\(what)")
        #expect(try updater.library.servedVersion(what) == before, "\(what)")
        #expect(try await updater.library.verify().isEmpty, "\(what)")
        return before
    }
}

/// Counts operations, and fails one of them or ends the process at it.
private final class Fault: Sendable {
    struct Step: Sendable, CustomStringConvertible {
        let operation: FaultyFileSystem.Operation
        /// The path relative to the library's root.
        let path: String

        /// The folder in the library, or the file at its root.
        var place: String { path.split(separator: "/").first.map(String.init) ?? "" }
        var description: String { "\(operation) \(path)" }
    }

    private let point: Int
    private let code: Int32?
    private let done = Mutex<[(operation: FaultyFileSystem.Operation, path: String)]>([])

    init(at point: Int, code: Int32?) {
        self.point = point
        self.code = code
    }

    var hasHappened: Bool { done.withLock { $0.count } >= point }

    func steps(in library: URL) -> [Step] {
        let root = library.path(percentEncoded: false)
        return done.withLock { $0 }.map { Step(operation: $0.operation, path: String($0.path.dropFirst(root.count))) }
    }

    func step(_ operation: FaultyFileSystem.Operation, _ path: String) throws {
        let count = done.withLock { done in
            done.append((operation, path))
            return done.count
        }
        guard count == point else { return }
        guard let code else {
            kill(getpid(), SIGKILL)
            return
        }
        throw FileError("fault", path, code: code)
    }
}
