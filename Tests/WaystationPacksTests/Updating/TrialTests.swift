import Foundation
import Testing

@testable import WaystationPacks

@Suite("A version on trial")
struct TrialTests {
    private let fixture: UpdateFixture

    init() throws { fixture = try UpdateFixture() }

    private func updater(of library: PackLibrary? = nil) -> PackUpdater {
        fixture.updater(of: library) {
            $0.healthWindow = .seconds(100)
            $0.healthStarts = 3
        }
    }

    /// Installs 1.0, which the app confirms, and 1.1, which is on trial.
    private func begin() async throws {
        try fixture.publish("1.0")
        _ = try await updater().check(isForced: true)
        try await fixture.library.confirm(.shop)
        try fixture.publish("1.1")
        _ = try await updater().check(isForced: true)
        #expect(try fixture.title() == "<title>1.1</title>")
    }

    private func title(in library: PackLibrary) throws -> String? {
        try fixture.home.text("https://shop.example/app/", in: library)
    }

    @Test("is still on trial after a restart, and has the whole period again")
    func restart() async throws {
        try await begin()
        fixture.home.advance(99)
        let library = try fixture.home.library()
        guard case .trial? = library.module(.shop)?.active?.health else {
            Issue.record("not on trial")
            return
        }
        let updater = updater(of: library)
        _ = try await updater.check(isForced: true)
        fixture.home.advance(100)
        _ = try await updater.check(isForced: true)
        #expect(try title(in: library) == "<title>1.1</title>")
        fixture.home.advance(1)
        _ = try await updater.check(isForced: true)
        #expect(try title(in: library) == "<title>1.0</title>")
    }

    @Test("is rolled back after the allowed number of starts, however short each was")
    func starts() async throws {
        try await begin()
        for start in 2...4 {
            let library = try fixture.home.library()
            _ = try await updater(of: library).check(isForced: true)
            #expect(try title(in: library) == (start <= 3 ? "<title>1.1</title>" : "<title>1.0</title>"))
        }
        #expect(fixture.home.details.contains("the app did not confirm the version in 3 starts"))
    }

    @Test("is neither rolled back nor confirmed when the wall clock is set", arguments: [-1e9, -200, 200, 1e9])
    func clock(by seconds: TimeInterval) async throws {
        try await begin()
        let updater = updater()
        fixture.home.setClock(by: seconds)
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == "<title>1.1</title>")
        guard case .trial? = fixture.library.module(.shop)?.active?.health else {
            Issue.record("not on trial")
            return
        }
        fixture.home.advance(101)
        _ = try await updater.check(isForced: true)
        #expect(try fixture.title() == "<title>1.0</title>")
    }

    @Test("that is tried again has the full number of starts and the full time")
    func again() async throws {
        try await begin()
        fixture.home.advance(101)
        _ = try await updater().check(isForced: true)
        #expect(try fixture.title() == "<title>1.0</title>")
        fixture.home.advance(90_000)
        _ = try await updater().check(isForced: true)
        fixture.home.advance(100)
        _ = try await updater().check(isForced: true)
        #expect(try fixture.title() == "<title>1.1</title>")
        fixture.home.advance(1)
        _ = try await updater().check(isForced: true)
        #expect(try fixture.title() == "<title>1.0</title>")
    }
}
