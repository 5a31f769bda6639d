import Foundation
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPacks

@Suite("The updater's stored state")
struct UpdaterStateTests {
    private let fixture: UpdateFixture
    private let accepted = CatalogueState(serial: 7, digest: PackDigest(of: Data("7".utf8)))

    init() throws { fixture = try UpdateFixture() }

    private var file: URL { URL(fileURLWithPath: fixture.home.layout.updater) }
    private var copy: URL { URL(fileURLWithPath: fixture.home.layout.updaterCopy) }

    /// Runs a check that accepts a catalogue.
    private func accept() async throws {
        fixture.server.catalogueState.withLock { $0 = accepted }
        _ = try await fixture.updater().check(isForced: true)
        fixture.server.catalogueState.withLock { $0 = nil }
    }

    /// The inquiry that the next check sends to the source.
    private func inquiry() async throws -> UpdateInquiry? {
        _ = try await fixture.updater().check(isForced: true)
        return fixture.server.inquiries.withLock { $0.last }
    }

    @Test(
        "survives damage of its file, which is reported",
        arguments: [Data(), Data("{".utf8), Data("[]".utf8), Data(count: UpdaterState.maximumSize + 1), nil]
    )
    func damagedFile(_ damage: Data?) async throws {
        try await accept()
        let before = try await inquiry()
        if let damage { try damage.write(to: file) } else { try FileManager.default.removeItem(at: file) }
        let after = try await inquiry()
        #expect(after?.catalogueState == accepted)
        #expect(after?.installID == before?.installID)
        #expect(fixture.home.events.filter { $0 == "damaged -" }.count == 1)
        _ = try await inquiry()
        #expect(fixture.home.events.filter { $0 == "damaged -" }.count == 1)
    }

    @Test("survives damage of its copy, which is reported and written again")
    func damagedCopy() async throws {
        try await accept()
        try Data("{".utf8).write(to: copy)
        #expect(try await inquiry()?.catalogueState == accepted)
        #expect(fixture.home.events.contains("damaged -"))
        try Data("{".utf8).write(to: file)
        #expect(try await inquiry()?.catalogueState == accepted)
    }

    @Test("is reported as lost when both are damaged, and so are the consequences")
    func bothDamaged() async throws {
        try await accept()
        for file in [file, copy] { try Data("{".utf8).write(to: file) }
        #expect(try await inquiry()?.catalogueState == nil)
        #expect(fixture.home.details.contains { $0.contains("may lead back to earlier versions") })
    }

    @Test("uses the newer catalogue of the two, as after a kill between the writes")
    func newer() async throws {
        try await accept()
        let old = try Data(contentsOf: file)
        fixture.server.catalogueState.withLock {
            $0 = CatalogueState(serial: 8, digest: PackDigest(of: Data("8".utf8)))
        }
        _ = try await fixture.updater().check(isForced: true)
        fixture.server.catalogueState.withLock { $0 = nil }
        try old.write(to: file)
        #expect(try await inquiry()?.catalogueState?.serial == 8)
    }

    @Test("is kept if the disk cannot be read")
    func unreadable() async throws {
        try await accept()
        let failing = FaultyFileSystem { operation, path in
            if operation == .openFile, path.hasSuffix("/updater.json") { throw FileError("open", path, code: EIO) }
        }
        let library = try fixture.home.library(failing)
        let asked = fixture.server.inquiries.withLock { $0.count }
        let error = await #expect(throws: PackError.self) { try await fixture.updater(of: library).check() }
        #expect(error?.code == .fileSystem)
        #expect(fixture.server.inquiries.withLock { $0.count } == asked)
    }

    @Test("leaves no unfinished file behind after a kill, and does not remove that of an updater that works")
    func unfinishedFiles() throws {
        let names = ["updater.json", "updater-copy.json"].map { "\($0).\(RandomName.make())" }
        let foreign = ["updater.json.bak", "updater-copy.json.\(RandomName.make())a"]
        let directory = fixture.home.directory
        for name in names + foreign { try Data("{".utf8).write(to: directory.appending(path: name)) }
        func left() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: directory.path)).intersection(names + foreign)
        }
        do {
            let lock = try LocalFileSystem().waitForLock(fixture.home.layout.updaterLock)
            try withExtendedLifetime(lock) { _ = try fixture.home.library() }
        }
        #expect(try left() == Set(names + foreign))
        _ = try fixture.home.library()
        #expect(try left() == Set(foreign))
    }
}
