public import Foundation
public import WaystationPacks

extension ReleaseIndex {
    /// The catalogue of everything that is published, with this index's serial number.
    ///
    /// It has all releases, so that clients can be rolled back. A catalogue has one minimum app version for each
    /// module: during a rollout, it is the higher one of the live version and the version that is rolled out.
    ///
    /// - Parameters:
    ///   - issued: The time when it is signed.
    ///   - expires: The time from which it is not valid any more.
    /// - Returns: The catalogue, not yet signed.
    public func catalogue(issued: Date, expires: Date) -> Catalogue {
        Catalogue(serial: serial, issued: issued, expires: expires, modules: modules.map(\.entry))
    }
}

extension ReleaseIndex.Module {
    fileprivate var entry: Catalogue.Module {
        var entry = Catalogue.Module(module, live: live, releases: releases.map(\.entry))
        entry.isActive = isActive
        entry.rollout = rollout
        entry.minimumVersion = lowestUsableVersion
        entry.network = network
        entry.minimumAppVersion = [live, rollout?.version].compactMap { release($0)?.minimumAppVersion }.max()
        return entry
    }
}

extension ReleaseIndex.Release {
    fileprivate var entry: Catalogue.Release {
        Catalogue.Release(
            version,
            released: released,
            manifest: manifest,
            installedSize: installedSize,
            archive: archive.entry,
            patches: patches.isEmpty ? nil : patches.map(\.entry)
        )
    }
}

extension ReleaseIndex.Patch {
    fileprivate var entry: Catalogue.Patch {
        Catalogue.Patch(kind, from: from, base: base, result: result, artifact: file.entry)
    }
}

extension ReleaseIndex.File {
    fileprivate var entry: Catalogue.File { Catalogue.File(url: path, size: size, digest: sha256) }
}
