import Foundation
import Synchronization
public import Waystation
package import WaystationHTTP
import WaystationStorage

// The packs in the rules of an interceptor.

extension Waystation.Route {
    /// The installed packs, by the URLs that their manifests give.
    ///
    /// The route needs ``Waystation/Interceptor/Configuration/packs``. Requests for URLs that no pack has continue to
    /// `otherwise`. All requests of a module continue to `otherwise` if the module is switched off, has no version, or has
    /// a version below the lowest that may still be used.
    public static func pack(orElse otherwise: Waystation.Route = .network) -> Self {
        .installedPacks(overlay: nil, orElse: otherwise)
    }

    /// The installed packs, whose single files may be replaced by newer ones from the network.
    ///
    /// A pack's file counts as a stored response that arrived when its pack was released, and `strategy` decides about
    /// it as about any other: with `.revalidate` the origin is asked each time, with `.staleWhileRevalidate(upTo:)` in
    /// the background. A newer response is stored in the cache of the interceptor. The pack itself is not changed, and
    /// the newer responses are removed when another version of the pack is activated.
    ///
    /// - Parameters:
    ///   - strategy: Decides when the network is asked about a file that the pack has.
    ///   - otherwise: The route for URLs that no pack has; the network by default.
    /// - Returns: The route.
    public static func pack(overlay strategy: CacheStrategy, orElse otherwise: Waystation.Route = .network) -> Self {
        .installedPacks(overlay: strategy, orElse: otherwise)
    }

    /// The installed packs; the network for all other URLs.
    public static let pack = Waystation.Route.pack()
}

extension Interceptor.Configuration {
    /// The installed packs that rules with `.pack` use; nil by default.
    ///
    /// Several interceptors may share one.
    public var packs: PackLibrary? {
        get { installedPacks as? PackLibrary }
        set { installedPacks = newValue }
    }
}

extension Interceptor {
    /// The installed packs; nil if the interceptor has none.
    package var packs: PackLibrary? { configuration.packs }
}

extension PackEvent: SourceEvent {
    /// The packs.
    public var source: LoadEvent.Source { .pack }
}

extension PackLibrary: InstalledPacks {
    /// Finds the file for a URL with one dictionary access.
    package func file(for url: CanonicalURL) -> InstalledFile? {
        guard let entry = state.withLock({ $0.index })[url] else { return nil }
        let pack = entry.pack
        return InstalledFile(
            directory: pack.directory,
            path: entry.request,
            lacksSlash: entry.lacksSlash,
            module: pack.module.description,
            released: pack.manifest.released,
            folder: pack.folder
        ) { [self] in
            reportDamage(pack.module, pack.folder, entry.request, $0)
        }
    }

    /// Reports that a file was not served because it differs from what was installed.
    ///
    /// Each file is reported once.
    private func reportDamage(_ module: ModuleID, _ folder: String, _ path: String, _ detail: String) {
        let isNew = state.withLock { $0.toldDamage.insert("\(module)/\(folder)/\(path)").inserted }
        guard isNew else { return }
        Task { await markDamaged(module, folder, detail) }
    }

    package var problems: [any SourceEvent] { condition }

    package func listen(
        for owner: any AnyObject & Sendable,
        _ listener: @escaping @Sendable (_ event: any SourceEvent, _ changed: String?) -> Void
    ) {
        listeners.add(for: owner) { event in
            let changesVersion = [.activated, .rolledBack, .removed].contains(event.kind)
            listener(event, changesVersion ? event.module?.description : nil)
        }
    }
}
