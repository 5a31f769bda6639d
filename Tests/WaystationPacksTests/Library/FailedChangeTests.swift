import Foundation
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPacks

/// Fails each file operation of each change in turn, and compares the library's state in memory with the disk.
@Suite("A change that fails")
struct FailedChangeTests {
    enum Change: String, CaseIterable, Sendable {
        case installFolder, installZip, activate, rollBack, confirm, disable, take, note, remove
    }

    @Test(
        "leaves memory and disk equal, reports only what happened, and says whether it happened",
        arguments: Change.allCases
    )
    func agreement(_ change: Change) async throws {
        var point = 1
        var hadDoubt = false
        while true {
            let fixture = try await Self.prepared()
            let fault = FailingOnce(at: point)
            let library = try fixture.library(FaultyFileSystem { try fault.step($0, $1) })
            let before = library.modules
            let told = fixture.events.count
            fault.isArmed = true
            let error = await packError { try await Self.make(change, in: library, fixture) }
            fault.isArmed = false
            let what = "\(change) \(point) \(fault.failed ?? "-") \(error.map { "\($0)" } ?? "")"
            #expect(library.modules == (try fixture.library()).modules, "\(what)")
            if let error {
                let hasChanged = library.modules != before
                // Only a deletion that frees space may fail without an error.
                #expect(hasChanged == (error.code == .notDurable) || change == .note, "\(what)")
                #expect(hasChanged == (fixture.events.count > told) || [.note, .take].contains(change), "\(what)")
                hadDoubt = hadDoubt || error.code == .notDurable
            }
            guard fault.failed != nil else { break }
            point += 1
        }
        #expect(point > 5)
        #expect(hadDoubt)
    }

    @Test("The folder of a new module, and the zip that a patch makes, are synchronized to the disk")
    func synchronized() async throws {
        let synchronized = Mutex<[String]>([])
        let fixture = try UpdateFixture(
            FaultyFileSystem { operation, path in
                guard operation == .synchronizeDirectory || operation == .synchronize else { return }
                synchronized.withLock { $0.append(path) }
            }
        )
        try fixture.publish("1.0")
        _ = try await fixture.updater().check(isForced: true)
        #expect(synchronized.withLock { $0.contains(fixture.home.layout.modules) })
        try fixture.publish("1.1")
        try fixture.offerZipPatch(from: "1.0", to: "1.1")
        let report = try await fixture.updater().check(isForced: true)
        #expect(report.failures.isEmpty, "\(report)")
        #expect(synchronized.withLock { $0.contains { $0.hasSuffix("/new.zip") } })
    }

    @Test("is reported as made but not durable when only the last synchronization with the disk fails")
    func doubt() async throws {
        let fixture = try await Self.prepared()
        let fault = Mutex(false)
        let library = try fixture.library(
            FaultyFileSystem { operation, path in
                guard operation == .synchronizeDirectory, fault.withLock({ $0 }) else { return }
                throw FileError("fsync", path, code: EIO)
            }
        )
        fault.withLock { $0 = true }
        let error = await packError { try await library.activate(.shop, version: PackVersion(literal: "1.0")) }
        #expect(error?.code == .notDurable)
        #expect(error?.message.contains("nothing was changed") == false)
        #expect(try fixture.text("https://shop.example/app/", in: library) == "1.0")
        #expect(fixture.events.last == "activated 1.0")
        #expect(try fixture.text("https://shop.example/app/", in: fixture.library()) == "1.0")
    }

    @Test("is not reported as made when the version was damaged while it was moved to its place")
    func damagedInPlace() async throws {
        let fixture = try await Self.prepared()
        let folder = fixture.layout.module(.shop)
        let isArmed = Mutex(true)
        let library = try fixture.library(
            FaultyFileSystem { operation, path in
                guard operation == .synchronizeDirectory, path == folder else { return }
                let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                guard let name = names.first(where: { $0.hasPrefix("2.0-") }), isArmed.withLock({ $0 }) else { return }
                isArmed.withLock { $0 = false }
                try Data("{}".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)/manifest.json"))
            }
        )
        let told = fixture.events.count
        let error = await packError {
            try await library.install(folder: fixture.root.appending(path: "new"), as: .shop("2.0"))
        }
        #expect(error?.code == .notInstalled)
        #expect(Array(fixture.events.dropFirst(told)) == ["damaged 2.0"])
        #expect(library.modules == (try fixture.library()).modules)
        #expect(library.module(.shop)?.active?.version == PackVersion(literal: "1.1"))
    }

    @Test("of an unknown module leaves nothing of it")
    func unknown() async throws {
        let fixture = try LibraryFixture()
        let library = try fixture.library()
        try await library.confirm(.shop)
        try await library.setEnabled(true, .shop)
        #expect(library.module(.shop) == nil)
        #expect(library.modules.isEmpty)
    }

    private static func prepared() async throws -> LibraryFixture {
        let fixture = try LibraryFixture()
        let library = try fixture.library()
        try await library.install(folder: fixture.folder(["index.html": "1.0", "a/b.js": "b"]), as: .shop("1.0"))
        try await library.install(folder: fixture.folder(["index.html": "1.1", "a/b.js": "b"]), as: .shop("1.1"))
        try await library.activate(LocalPack(PackVersion(literal: "1.0")), of: .shop, onTrial: false)
        try await library.update(.shop) { _, record in
            let active = record.active ?? ""
            record.change(active) { $0.wasConfirmed = nil }
        }
        try await library.activate(.shop, version: PackVersion(literal: "1.1"))
        try await library.update(.shop) { library, record in
            let active = record.active ?? ""
            record.change(active) { $0.wasConfirmed = nil }
            library.begin(active, of: .shop, in: &record, onTrial: true)
        }
        _ = try fixture.folder(["index.html": "2.0", "c.js": "c"], named: "new")
        try PackBuilder.build(
            folder: fixture.root.appending(path: "new"),
            as: .shop("2.0"),
            to: fixture.root.appending(path: "new.zip")
        )
        return fixture
    }

    private static func make(_ change: Change, in library: PackLibrary, _ fixture: LibraryFixture) async throws {
        switch change {
        case .installFolder:
            try await library.install(folder: fixture.root.appending(path: "new"), as: .shop("2.0"))
        case .installZip: try await library.install(zip: fixture.root.appending(path: "new.zip"))
        case .activate: try await library.activate(.shop, version: PackVersion(literal: "1.0"))
        case .rollBack: try await library.rollBack(.shop, reason: "white page")
        case .confirm: try await library.confirm(.shop)
        case .disable: try await library.setEnabled(false, .shop)
        case .take:
            var offer = ModuleOffer(.shop)
            offer.minimumVersion = PackVersion(literal: "1.1")
            try await library.take(offer)
        case .note:
            let failure = FailedUpdate(to: nil, way: .whole, retryAt: .distantFuture)
            try await library.note(failure, of: .shop, pausing: RetryPause(), at: fixture.now())
        case .remove: try await library.remove(.shop)
        }
    }
}

private func packError(_ operation: () async throws -> Void) async -> PackError? {
    do {
        try await operation()
        return nil
    } catch {
        return error as? PackError
    }
}

/// Fails one operation once it is armed, and counts the operations before it.
private final class FailingOnce: Sendable {
    private struct State {
        var isArmed = false
        var count = 0
        var failed: String?
    }

    private let point: Int
    private let state = Mutex(State())

    init(at point: Int) { self.point = point }

    var isArmed: Bool {
        get { state.withLock { $0.isArmed } }
        set { state.withLock { $0.isArmed = newValue } }
    }

    /// The operation that failed; nil while none did.
    var failed: String? { state.withLock { $0.failed } }

    func step(_ operation: FaultyFileSystem.Operation, _ path: String) throws {
        let hits = state.withLock { state in
            guard state.isArmed else { return false }
            state.count += 1
            guard state.count == point else { return false }
            state.failed = "\(operation) \(path)"
            return true
        }
        if hits { throw FileError("\(operation)", path, code: EIO) }
    }
}
