import Foundation
import Synchronization
import Testing
import WaystationFileSystem
import WaystationPatch
import WaystationTesting

@testable import WaystationPacks

/// Fails each file operation of an update in turn, and kills a real process (SIGKILL) before each of them.
@Suite("An update that is interrupted")
struct CrashTests {
    /// How the update goes from 1.0 to 1.1.
    enum Way: String, CaseIterable, Sendable, Codable { case contentPatch, zipPatch, whole }

    @Test(
        "leaves the old version or the new one after any failed operation, and the next check ends it",
        arguments: Way.allCases
    )
    func failures(_ way: Way) async throws {
        let stage = try await Stage(way)
        for code in [EIO, ENOSPC] {
            var point = 1
            while true {
                let trial = try stage.copy()
                let fault = Fault(at: point, code: code)
                let hasFailed = try await Self.update(
                    in: trial,
                    through: FaultyFileSystem { _, path in try fault.step(path) }
                )
                guard fault.hasHappened else { break }
                try await Self.inspect(trial, "\(way) \(point) \(code) failed: \(hasFailed)")
                point += 1
            }
            #expect(point > 100, "\(way) made only \(point) operations")
        }
    }

    @Test(
        "leaves the old version or the new one when its process is killed, and the next check ends it",
        arguments: 0..<100
    )
    func kills(_ point: Int) async throws {
        for way in Way.allCases {
            let stage = try await Stage(way)
            defer { withExtendedLifetime(stage) {} }
            let trial = try stage.copy()
            let path = trial.path(percentEncoded: false)
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, point = point as Int] in
                let fault = Fault(at: point + 1, code: nil)
                let fileSystem = FaultyFileSystem { _, path in try fault.step(path) }
                _ = try? await CrashTests.update(in: URL(fileURLWithPath: path), through: fileSystem)
                // It was done before its time came.
                kill(getpid(), SIGKILL)
            }
            try await Self.inspect(trial, "\(way) \(point)")
        }
    }

    /// Opens a library over a file system, and updates it; whether that failed.
    private static func update(in trial: URL, through fileSystem: any FileSystem) async throws -> Bool {
        do {
            let report = try await updater(in: trial, fileSystem).check(isForced: true)
            return report.outcomes.contains { if case .failed = $0.kind { true } else { false } }
        } catch is PackError {
            return true
        }
    }

    private static func inspect(_ trial: URL, _ what: String) async throws {
        let updater = try updater(in: trial, LocalFileSystem())
        let library = updater.library
        let before = try #require(library.module(.shop)?.active?.version.description, "\(what)")
        #expect(["1.0", "1.1"].contains(before), "\(what)")
        #expect(try title(in: library) == "<title>\(before)</title>", "\(what)")
        #expect(try await library.verify().isEmpty, "\(what)")
        // What was noted as failed is left alone for a day; a patch is then followed by the whole pack at once.
        let report = try await updater.check(isForced: true)
        #expect(library.module(.shop)?.active?.version.description == "1.1", "\(what): \(report)")
        #expect(try title(in: library) == "<title>1.1</title>", "\(what)")
        #expect(try await library.verify().isEmpty, "\(what)")
        let folders = try FileManager.default.contentsOfDirectory(atPath: library.layout.module(.shop))
        #expect(folders.count == 1 + (library.module(.shop)?.versions.count ?? 0), "\(what): \(folders)")
        let staging = try FileManager.default.contentsOfDirectory(atPath: library.layout.staging)
        #expect(staging.isEmpty, "\(what)")
    }

    private static func title(in library: PackLibrary) throws -> String? {
        let url = try #require(URL(string: "https://shop.example/app/"))
        return try library.fileURL(for: url).map { try String(contentsOf: $0.file, encoding: .utf8) }
    }

    /// An updater of the library in a folder, with the server that a stage wrote there.
    private static func updater(in trial: URL, _ fileSystem: any FileSystem) throws -> PackUpdater {
        var environment = PackEnvironment()
        environment.fileSystem = fileSystem
        let library = try PackLibrary(directory: trial.appending(path: "library"), environment: environment)
        var configuration = PackUpdater.Configuration()
        let server = try ScriptedServer(readingFrom: trial.appending(path: "server"))
        configuration.fetcher = server
        configuration.planner.reservedSpace = 0
        configuration.retryInterval = .zero
        let app = AppIdentity(code: "shop", version: PackVersion(literal: "5"))
        return PackUpdater(library: library, source: server, app: app, configuration: configuration)
    }
}

/// A library with version 1.0 and a server that offers 1.1, to be copied for each trial.
private final class Stage: Sendable {
    private let fixture: LibraryFixture

    init(_ way: CrashTests.Way) async throws {
        fixture = try LibraryFixture()
        let server = fixture.root.appending(path: "stage/server")
        try FileManager.default.createDirectory(at: server, withIntermediateDirectories: true)
        for version in ["1.0", "1.1"] as [StaticString] {
            let files = [
                "index.html": "<title>\(version)</title>", "a/same.js": String(repeating: "same ", count: 3000),
                "a/b/app.js": String(repeating: "app ", count: 3000) + "\(version)",
            ]
            try PackBuilder.build(
                folder: fixture.folder(files),
                as: .shop(version),
                to: server.appending(path: "\(version).zip")
            )
        }
        let old = server.appending(path: "1.0.zip")
        let new = server.appending(path: "1.1.zip")
        switch way {
        case .contentPatch:
            try PackBuilder.contentPatch(from: PackContents(old), to: PackContents(new))
                .write(to: server.appending(path: "content.patch"))
        case .zipPatch:
            try BSDiffPatch.create(from: FileSource(old), to: FileSource(new))
                .write(to: server.appending(path: "zip.patch"))
        case .whole: break
        }
        let library = try PackLibrary(directory: fixture.root.appending(path: "stage/library"))
        let origin = PackLibrary.ArchiveOrigin(digests: [try PackDigest(ofFile: old)], isKept: true)
        let staged = try await library.stage(zip: old.path, as: nil, origin: origin) { _ in }
        _ = try await library.commit(staged, activating: true, onTrial: false)
    }

    func copy() throws -> URL {
        let trial = fixture.root.appending(path: UUID().uuidString)
        try FileManager.default.copyItem(at: fixture.root.appending(path: "stage"), to: trial)
        return trial
    }
}

extension ScriptedServer {
    /// The server whose files lie in a folder: it offers 1.1, by the patches that are there.
    fileprivate convenience init(readingFrom folder: URL) throws {
        self.init()
        let (old, new) = (
            try PackContents(folder.appending(path: "1.0.zip")), try PackContents(folder.appending(path: "1.1.zip"))
        )
        var offer = ModuleOffer(.shop, version: new.manifest.version)
        offer.archive = try put(Data(contentsOf: folder.appending(path: "1.1.zip")), at: "1.1.zip")
        offer.manifest = new.manifestDigest
        if let patch = try? Data(contentsOf: folder.appending(path: "content.patch")) {
            let artifact = try put(patch, at: "content.patch")
            offer.patches = [
                PatchOffer(.content, base: old.manifestDigest, result: new.manifestDigest, artifact: artifact)
            ]
        }
        if let patch = try? Data(contentsOf: folder.appending(path: "zip.patch")) {
            let base = try PackDigest(ofFile: folder.appending(path: "1.0.zip"))
            let artifact = try put(patch, at: "zip.patch")
            offer.patches = [PatchOffer(.zip, base: base, result: offer.archive?.digest, artifact: artifact)]
        }
        let offered = offer
        offers.withLock { $0 = [offered] }
    }
}

/// Counts operations, and at one of them fails it or ends the process.
private final class Fault: Sendable {
    private let point: Int
    private let code: Int32?
    private let count = Atomic(0)

    init(at point: Int, code: Int32?) {
        self.point = point
        self.code = code
    }

    var hasHappened: Bool { count.load(ordering: .sequentiallyConsistent) >= point }

    func step(_ path: String) throws {
        guard count.add(1, ordering: .sequentiallyConsistent).newValue == point else { return }
        guard let code else {
            kill(getpid(), SIGKILL)
            return
        }
        throw FileError("fault", path, code: code)
    }
}
