import Foundation
import WaystationPacks
import WaystationPublishing

#if NIO
import FoundationNetworking
import WaystationNIO
#endif

/// The examples in the comments of `WaystationPacks` and `WaystationPublishing`, compiled and not run.
enum PackExamples {
    static func load(_ file: URL, readAccess: URL) {}

    static func library(_ caches: URL, _ shop: ModuleID, _ bundled: URL, _ home: URL) async throws {
        // snippet: comment-pack-library
        let packs = try PackLibrary(directory: caches.appending(path: "packs"))
        if packs.module(shop) == nil { try await packs.install(zip: bundled) }  // at the first start
        if let local = packs.fileURL(for: home) { load(local.file, readAccess: local.root) }
        // end snippet
    }

    static func updater(
        _ packs: PackLibrary,
        _ endpoint: URL,
        _ releaseKey: TrustedKey,
        _ version: PackVersion
    ) async throws -> UpdateReport {
        // snippet: comment-pack-updater
        let updater = PackUpdater(
            library: packs,
            source: .catalogue(at: endpoint, trusting: [releaseKey]),
            app: AppIdentity(code: "shop", version: version)
        )
        try await updater.run(every: .seconds(300))  // resident, until its task is cancelled; or
        let report = try await updater.check()  // once
        // end snippet
        return report
    }

    #if NIO
    static func fetcher(_ endpoint: URL, _ releaseKey: TrustedKey) -> CatalogueSource {
        // snippet: comment-transport-fetcher
        let fetcher = TransportFetcher(NIOTransport(configuration: .ephemeral))
        let source = CatalogueSource(endpoint, trusting: [releaseKey], fetcher: fetcher)
        // end snippet
        return source
    }

    static func updater(_ packs: PackLibrary, _ source: CatalogueSource, _ app: AppIdentity) -> PackUpdater {
        // snippet: packs-transport
        var configuration = PackUpdater.Configuration()
        configuration.fetcher = TransportFetcher(NIOTransport(configuration: .ephemeral))
        let updater = PackUpdater(library: packs, source: source, app: app, configuration: configuration)
        // end snippet
        return updater
    }
    #endif

    static func releases(_ pack: URL, _ shop: ModuleID, _ key: SigningKey) async throws {
        // snippet: comment-release-directory
        let releases = ReleaseDirectory(URL(filePath: "/srv/packs"))
        try await releases.publish(zip: pack, signedBy: [key])  // clients follow at their next poll
        try await releases.rollBack(shop, signedBy: [key])
        // end snippet
    }

    static func bucket() throws -> ReleaseDirectory {
        // snippet: comment-s3-bucket
        let bucket = try S3Bucket("s3://releases/shop", .init(environment: ProcessInfo.processInfo.environment))
        let releases = ReleaseDirectory(in: bucket)
        // end snippet
        return releases
    }
}
