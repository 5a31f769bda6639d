import Foundation
import Synchronization
import WaystationStorage

@testable import WaystationPacks

/// A directory for a library and its packs, a driven clock, and the library's events.
final class LibraryFixture: Sendable {
    let root: URL
    private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    private let uptime = Mutex(Duration.zero)
    private let log = Mutex<[PackEvent]>([])

    init() throws {
        root = FileManager.default.temporaryDirectory.appending(path: "waystation-packs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    var directory: URL { root.appending(path: "library") }
    var layout: PackLayout { PackLayout(root: directory.path(percentEncoded: false)) }
    var events: [String] { log.withLock { $0.map { "\($0.kind) \($0.version.map(\.description) ?? "-")" } } }
    var details: [String] { log.withLock { $0.map(\.detail) } }

    /// The time of the driven clock.
    func now() -> Date { time.withLock { $0 } }

    /// Lets time pass.
    func advance(_ seconds: TimeInterval) {
        setClock(by: seconds)
        uptime.withLock { $0 += .seconds(seconds) }
    }

    /// Sets the wall clock without time passing.
    func setClock(by seconds: TimeInterval) { time.withLock { $0 += seconds } }

    func library(_ fileSystem: any FileSystem = LocalFileSystem()) throws -> PackLibrary {
        var environment = PackEnvironment()
        environment.fileSystem = fileSystem
        environment.now = { self.now() }
        environment.uptime = { self.uptime.withLock { $0 } }
        return try PackLibrary(directory: directory, environment: environment) { event in
            self.log.withLock { $0.append(event) }
        }
    }

    /// A folder with files in it.
    func folder(_ files: [String: String], named name: String = UUID().uuidString) throws -> URL {
        let folder = root.appending(path: name)
        for (path, text) in files {
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        return folder
    }

    /// The text of the file that a URL is answered with, if there is one.
    func text(_ url: String, in library: PackLibrary) throws -> String? {
        guard let url = URL(string: url), let local = library.fileURL(for: url) else { return nil }
        return try String(contentsOf: local.file, encoding: .utf8)
    }
}

extension ModuleID {
    static let shop = ModuleID(literal: "shop")

    init(literal text: StaticString) {
        self = ModuleID("\(text)") ?? .shop
    }
}

extension PackVersion {
    init(literal text: StaticString) {
        self = PackVersion("\(text)") ?? PackVersion(literal: "0")
    }
}

extension PackDescription {
    static func shop(_ version: StaticString) -> PackDescription {
        PackDescription(
            module: .shop,
            version: PackVersion(literal: version),
            baseURLs: ["https://shop.example/app/"],
            released: Date(timeIntervalSince1970: 1_772_366_400)
        )
    }
}
