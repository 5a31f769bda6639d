import Logging
import ServiceLifecycle
import WaystationPacks
import WaystationPublishing

/// Signs the catalogue again, long before it expires, as long as the server runs.
struct CatalogueRenewal: Service {
    let releases: ReleaseDirectory
    let keys: [SigningKey]
    let logger: Logger
    /// The directory that must be there: a renewal would begin an empty one in its place.
    ///
    /// Nil for a bucket, and before the first catalogue is signed.
    var root: ReleaseRoot?

    /// A renewal is due when half of the catalogue's validity is left, so an occasional check is enough.
    private var interval: Duration { min(.seconds(3600), releases.configuration.validity / 8) }

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: interval)
                do {
                    try await renew()
                } catch {
                    logger.error(
                        "the catalogue could not be signed again; the next attempt follows",
                        metadata: ["error": "\(error)"]
                    )
                }
            }
        }
    }

    func renew() async throws {
        if let root { _ = try await BlockingWork.run { try root.files() } }
        if try await releases.renew(signedBy: keys) { logger.info("signed the catalogue again") }
    }
}
