import Foundation
import FoundationNetworking
import Logging
import Waystation
import WaystationPacks
import WaystationPublishing

/// Publishes several versions of real web apps, and runs an app that follows them.
///
/// The demo begins with the first pack, and ends when the server has stopped and everything loads offline.
struct PacksDemo: Sendable {
    /// The format in which the app asks for updates.
    enum Format: String, CaseIterable, Sendable {
        /// The signed catalogue.
        case catalogue
        /// The older format for many modules.
        case modules
        /// The older format for one app.
        case package
    }

    /// The outcome of the demo.
    struct Result: Sendable {
        var files = 0
        var missing: [String] = []
        var differing: [String] = []
        /// For each update: the bytes that the app fetched, and the bytes of the whole pack.
        var fetched: [(version: String, way: String, bytes: Int, whole: Int?)] = []
    }

    struct Unexpected: Error, CustomStringConvertible { let description: String }

    static let base = "https://lab.example/static/"

    /// The folders of three successive versions, named as `NAME-VERSION`.
    let versions: [URL]
    let format: Format
    let say: @Sendable (String) -> Void

    /// Runs the demo.
    ///
    /// - Parameter scratch: An empty folder for packs, releases and the app's library.
    /// - Returns: The outcome of loading everything offline.
    /// - Throws: The error of the step that failed.
    func run(in scratch: URL) async throws -> Result {
        let key = try SigningKey.generate()
        // Built away from Swift's threads, since the server and the app run in this process too.
        let packs = try await BlockingWork.run { try versions.map { try build($0, in: scratch) } }
        let token = UUID().uuidString
        let releases = ReleaseDirectory(scratch.appending(path: "releases"))
        guard let adminToken = AdminToken(token) else { throw Unexpected(description: "the token was refused") }
        var logger = Logger(label: "update-server")
        logger.logLevel = .error
        let settings = ServerSettings(releases: releases, keys: [key], token: adminToken)
        let server = try await RunningServer(UpdateServer(settings, logger: logger))
        let publisher = Publisher(server: server.url, module: packs[0].module, token: token)
        say("the update server listens at \(server.url)")

        let app = try App(library: scratch.appending(path: "app"), server: server.url, format: format, key: key)
        var result = Result()
        for pack in packs {
            try await publisher.publish(pack.zip)
            say("published \(pack.module) \(pack.version)")
            let outcome = try await app.update()
            guard case .updated(let way, let bytes, let whole) = outcome.kind, outcome.to == pack.version else {
                throw Unexpected(description: "after publishing \(pack.version): \(outcome)")
            }
            say("the app: \(outcome)")
            result.fetched.append((pack.version.description, way.rawValue, bytes, whole))
            try await app.expectPage(of: pack.folder)
        }

        try await publisher.change("rollback")
        say("rolled back; the app: \(try await app.update(expecting: packs[1].version))")
        try await app.expectPage(of: packs[1].folder)
        try await publisher.change("disable")
        say("disabled; the app: \(try await app.update())")
        try await app.expectNothing()
        try await publisher.change("enable")
        try await publisher.publish(packs[2].zip)
        say("enabled, and published again; the app: \(try await app.update(expecting: packs[2].version))")

        await server.stop()
        say("the server is off")
        try await app.compare(with: packs[2].folder, into: &result)
        return result
    }

    private struct BuiltPack: Sendable {
        let module: ModuleID
        let version: PackVersion
        let folder: URL
        let zip: URL
    }

    private func build(_ folder: URL, in scratch: URL) throws -> BuiltPack {
        let name = folder.lastPathComponent
        guard let hyphen = name.lastIndex(of: "-"), let module = ModuleID(String(name[..<hyphen])),
            let version = PackVersion(String(name[name.index(after: hyphen)...]))
        else { throw Unexpected(description: "\(name) is not named NAME-VERSION") }
        let description = PackDescription(module: module, version: version, baseURLs: [Self.base])
        let zip = scratch.appending(path: "\(name).zip")
        try PackBuilder.build(folder: folder, as: description, to: zip)
        return BuiltPack(module: module, version: version, folder: folder, zip: zip)
    }
}
