import Logging
import ServiceLifecycle
import WaystationPacks
import WaystationPublishing

/// Signs the catalogue anew, long before it expires, as long as the server runs.
struct CatalogueRenewal: Service {
    let releases: ReleaseDirectory
    let keys: [SigningKey]
    let logger: Logger

    /// Half of the catalogue's time is left when it is renewed, so a check now and then is enough.
    private var interval: Duration { min(.seconds(3600), releases.configuration.validity / 8) }

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: interval)
                do {
                    try await renew()
                } catch {
                    logger.error(
                        "the catalogue could not be signed anew; trying again",
                        metadata: ["error": "\(error)"]
                    )
                }
            }
        }
    }

    func renew() async throws {
        if try await releases.renew(signedBy: keys) { logger.info("signed the catalogue anew") }
    }
}
