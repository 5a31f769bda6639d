import Foundation
import Synchronization
import Testing
import WaystationStorage

@testable import WaystationPacks

@Suite("Several processes on one library")
struct SeveralProcessesTests {
    @Test(
        "Of two that update at once one does, the other gets `busy`; both end with the same whole version",
        arguments: UpdateWay.allCases
    )
    func twoUpdaters(_ way: UpdateWay) async throws {
        let stage = try await UpdateStage(way)
        let trial = try stage.copy()
        let place = try MeetingPlace(in: trial)
        async let first: Void = Self.updateWhileAnotherIsRefused(place.meeting)
        async let second: Void = Self.beRefusedAndTakeTurn(place.meeting)
        _ = await (first, second)
        try await Self.expectWhole(trial)
    }

    @Test("The refused one takes over from one that is killed", arguments: UpdateWay.allCases)
    func killedUpdater(_ way: UpdateWay) async throws {
        let stage = try await UpdateStage(way)
        let trial = try stage.copy()
        let place = try MeetingPlace(in: trial)
        async let first: Void = Self.dieWhenAnotherWasRefused(place.meeting)
        async let second: Void = Self.beRefusedAndTakeTurn(place.meeting)
        _ = await (first, second)
        try await Self.expectWhole(trial)
    }

    @Test("A reader serves whole versions while another process updates, and the new one after a refresh")
    func reader() async throws {
        let stage = try await UpdateStage(.contentPatch)
        let trial = try stage.copy()
        let place = try MeetingPlace(in: trial)
        async let reader: Void = Self.readUntilUpdated(place.meeting)
        async let writer: Void = Self.updateWhenRead(place.meeting)
        _ = await (reader, writer)
        try await Self.expectWhole(trial)
    }

    @Test("Installs and rollbacks of three at once leave one whole version, and nothing else")
    func manyChanges() async throws {
        let stage = try await UpdateStage(.whole)
        let trial = try stage.copy()
        let meeting = Meeting(folder: trial)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { await Self.changeAgainAndAgain(meeting) } }
        }
        // Whichever change was the last: the library is sound, and accepts another installation.
        let library = try PackLibrary(ofTrial: trial)
        #expect(try await library.verify().isEmpty)
        try await library.install(zip: trial.appending(path: "server/1.1.zip"))
        try await Self.expectWhole(trial)
    }

    @Test("A lock ends with its owner, even if a child that is just starting has the descriptor too")
    func inheritedLock() async throws {
        let fixture = try LibraryFixture()
        let (fileSystem, path) = (LocalFileSystem(), fixture.root.appending(path: "lock").path)
        var lock = try fileSystem.lock(path)
        let inherited = dup(try #require(lock).descriptor)
        defer { close(inherited) }
        #expect(try fileSystem.lock(path) == nil)
        lock = nil
        #expect(try fileSystem.lock(path) != nil)
    }

    // MARK: - The work of the processes

    /// Updates; while the update asks the source, another process tries to update.
    private static func updateWhileAnotherIsRefused(_ meeting: Meeting) async {
        await #expect(processExitsWith: .success) { [meeting = meeting as Meeting] in
            let server = try ScriptedServer(ofTrial: meeting.folder)
            server.gate.withLock {
                $0 = {
                    do {
                        try meeting.arrive(at: .isReady)
                        try meeting.wait(for: .wasRefused)
                    } catch {
                        Issue.record(error)
                    }
                }
            }
            let updater = try PackUpdater(ofTrial: meeting.folder, from: server)
            _ = try await updater.check(isForced: true)
            #expect(try updater.library.servedVersion() == "1.1")
        }
    }

    /// Is killed during an update, while it downloads.
    private static func dieWhenAnotherWasRefused(_ meeting: Meeting) async {
        await #expect(processExitsWith: .signal(SIGKILL)) { [meeting = meeting as Meeting] in
            let server = try ScriptedServer(ofTrial: meeting.folder)
            server.duringFetch.withLock {
                $0 = {
                    do {
                        try meeting.arrive(at: .isReady)
                        try meeting.wait(for: .wasRefused)
                        kill(getpid(), SIGKILL)
                    } catch {
                        Issue.record(error)
                    }
                }
            }
            _ = try await PackUpdater(ofTrial: meeting.folder, from: server).check(isForced: true)
        }
    }

    private static func beRefusedAndTakeTurn(_ meeting: Meeting) async {
        await #expect(processExitsWith: .success) { [meeting = meeting as Meeting] in
            try meeting.wait(for: .isReady)
            let updater = try PackUpdater(ofTrial: meeting.folder)
            let error = await #expect(throws: PackError.self) { try await updater.check(isForced: true) }
            #expect(error?.code == .busy)
            #expect(try updater.library.servedVersion() == "1.0")
            try meeting.arrive(at: .wasRefused)
            // This process gets the lock when the other one has finished or was killed.
            _ = try LocalFileSystem().waitForLock(updater.library.layout.updaterLock)
            let report = try await updater.check(isForced: true)
            #expect(try updater.library.servedVersion() == "1.1", "\(report)")
        }
    }

    private static func readUntilUpdated(_ meeting: Meeting) async {
        await #expect(processExitsWith: .success) { [meeting = meeting as Meeting] in
            let resident = try PackLibrary(ofTrial: meeting.folder)
            #expect(try resident.servedVersion() == "1.0")
            try meeting.arrive(at: .isReady)
            // The version that this process has opened stays whole, and so does the one that a newly opened library
            // finds.
            var newest = "1.0"
            while newest == "1.0" {
                newest = try PackLibrary(ofTrial: meeting.folder).servedVersion()
                try #require(try resident.servedVersion() == "1.0")
            }
            #expect(newest == "1.1")
            try await resident.refresh()
            #expect(try resident.servedVersion() == "1.1")
        }
    }

    private static func updateWhenRead(_ meeting: Meeting) async {
        await #expect(processExitsWith: .success) { [meeting = meeting as Meeting] in
            try meeting.wait(for: .isReady)
            let report = try await PackUpdater(ofTrial: meeting.folder).check(isForced: true)
            #expect(report.outcomes.count == 1)
        }
    }

    private static func changeAgainAndAgain(_ meeting: Meeting) async {
        await #expect(processExitsWith: .success) { [meeting = meeting as Meeting] in
            let library = try PackLibrary(ofTrial: meeting.folder)
            for round in 0..<20 {
                let version = round % 2 == 0 ? "1.1" : "1.0"
                try await library.install(zip: meeting.folder.appending(path: "server/\(version).zip"))
                do {
                    if round % 3 == 0 { try await library.rollBack(.shop, reason: "a try") }
                } catch let error as PackError where error.code == .notInstalled {
                    // Other processes have rolled back as well, and no version is left to go back to.
                }
                // Opening removes left-overs, and must not remove files that another process is about to record.
                _ = try PackLibrary(ofTrial: meeting.folder)
            }
        }
    }

    private static func expectWhole(_ trial: URL) async throws {
        let library = try PackLibrary(ofTrial: trial)
        #expect(try library.servedVersion() == "1.1")
        #expect(try await library.verify().isEmpty)
        let folders = try FileManager.default.contentsOfDirectory(atPath: library.layout.module(.shop))
        let versions = library.module(.shop)?.versions.count ?? 0
        #expect(folders.count == 1 + versions, "\(folders)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: library.layout.staging).isEmpty)
    }
}
