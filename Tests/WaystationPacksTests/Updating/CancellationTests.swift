import Foundation
import Synchronization
import Testing
import WaystationHTTP
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPacks

@Suite("An update that is cancelled in the middle")
struct CancellationTests {
    enum Work: String, CaseIterable, Sendable { case contentPatch, zipPatch, unpacking }

    /// Text that zips to half its length, so that even its zip is longer than the parts in which the work is done.
    private static let noise = Data.random(700_000, seed: 1).hexadecimal

    private static func files(_ version: StaticString) -> [String: String] {
        ["index.html": "<title>\(version)</title>", "big.js": "\(version)" + noise]
    }

    @Test(
        "stops between two parts of a file, leaves no partial files, and the next check fetches nothing twice",
        arguments: Work.allCases
    )
    func stops(_ work: Work) async throws {
        let trigger = Trigger()
        let fixture = try UpdateFixture(FaultyFileSystem { trigger.step($0, $1) })
        let updater = fixture.updater()
        try fixture.publish("1.0", files: Self.files("1.0"))
        _ = try await updater.check(isForced: true)
        try fixture.publish("1.1", files: Self.files("1.1"))
        switch work {
        case .contentPatch: try fixture.offerPatch(from: "1.0", to: "1.1")
        case .zipPatch: try fixture.offerZipPatch(from: "1.0", to: "1.1")
        case .unpacking: break
        }
        let suffix = work == .zipPatch ? "/new.zip" : "/big.js"
        let check = Task {
            await trigger.wait()
            return try await updater.check(isForced: true)
        }
        trigger.arm(at: suffix) { check.cancel() }
        let error = await #expect(throws: PackError.self) { try await check.value }
        #expect(error?.code == .cancelled)
        // The next check waits for the end of the cancelled one before it asks the server.
        let (staging, fetched) = (fixture.home.layout.staging, fixture.server.fetched)
        fixture.server.gate.withLock {
            $0 = {
                #expect(trigger.writesAfter == 0)
                #expect((try? FileManager.default.contentsOfDirectory(atPath: staging)) == [])
                #expect((try? fixture.title()) == "<title>1.0</title>")
            }
        }
        _ = try await updater.check()
        #expect(fixture.server.inquiries.withLock { $0.count } == 3)
        #expect(fixture.server.fetched == fetched)
        #expect(try fixture.title() == "<title>1.1</title>")
        #expect(try await fixture.library.verify().isEmpty)
    }

    @Test("A cancelled comparison of all files marks nothing as damaged")
    func verifying() async throws {
        let trigger = Trigger()
        let fixture = try LibraryFixture()
        let library = try fixture.library(FaultyFileSystem { trigger.step($0, $1) })
        // With a single file, no check between files can end the comparison.
        try await library.install(folder: fixture.folder(["big.js": Self.noise]), as: .shop("1.0"))
        let verifying = Task {
            await trigger.wait()
            return try await library.verify()
        }
        trigger.arm(at: "/big.js", .openFile) { verifying.cancel() }
        let error = await #expect(throws: PackError.self) { try await verifying.value }
        #expect(error?.code == .cancelled)
        #expect(library.module(.shop)?.active?.isDamaged == false)
    }

    @Test("No Swift thread blocks on the disk during a check with its downloads, patches and clean-up")
    func threads() async throws {
        let stray = Mutex<[String]>([])
        let isArmed = Mutex(false)
        let fixture = try UpdateFixture(
            FaultyFileSystem { operation, path in
                // Records are changed on a queue of their own, and zips are unpacked on threads of their own.
                guard isArmed.withLock({ $0 }), !BlockingThreads.isCurrent, !path.contains("/modules"),
                    !path.contains("/staging/") || [.removeFile, .removeDirectory].contains(operation),
                    !path.hasSuffix("/library/lock")
                else { return }
                stray.withLock { $0.append("\(operation) \(path)") }
            }
        )
        isArmed.withLock { $0 = true }
        let updater = fixture.updater()
        try fixture.publish("1.0")
        _ = try await updater.check(isForced: true)
        let artifact = try #require(fixture.server.offers.withLock { $0.first?.archive })
        try fixture.publish("1.1")
        try fixture.offerPatch(from: "1.0", to: "1.1")
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == "<title>1.1</title>")
        _ = try await updater.downloader.download(artifact)
        isArmed.withLock { $0 = false }
        #expect(stray.withLock { $0 } == [])
    }
}

/// Runs an action at an operation on a file, and counts the writes to that file afterwards.
private final class Trigger: Sendable {
    private struct State {
        var suffix: String?
        var operation = FaultyFileSystem.Operation.write
        var action: (@Sendable () -> Void)?
        var hasFired = false
        var writesAfter = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    var writesAfter: Int { state.withLock { $0.writesAfter } }

    func arm(
        at suffix: String,
        _ operation: FaultyFileSystem.Operation = .write,
        _ action: @escaping @Sendable () -> Void
    ) {
        let waiter = state.withLock { state in
            state.suffix = suffix
            state.operation = operation
            state.action = action
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns when the trigger is armed.
    func wait() async {
        await withCheckedContinuation { waiter in
            let isArmed = state.withLock { state in
                if state.action == nil { state.waiter = waiter }
                return state.action != nil
            }
            if isArmed { waiter.resume() }
        }
    }

    func step(_ operation: FaultyFileSystem.Operation, _ path: String) {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard let suffix = state.suffix, path.hasSuffix(suffix), path.contains("/library/") else { return nil }
            if state.hasFired {
                if operation == .write { state.writesAfter += 1 }
                return nil
            }
            guard operation == state.operation else { return nil }
            state.hasFired = true
            return state.action
        }
        action?()
    }
}
