public import Foundation
public import WaystationPacks

extension ReleaseIndex {
    /// The catalogue of what is published, under this index's serial number.
    ///
    /// All releases are in it, so that clients can be led back. While a version is rolled out that needs a newer app than
    /// the live one, the higher need counts for both, since a catalogue has one for each module.
    ///
    /// - Parameters:
    ///   - issued: When it is signed.
    ///   - expires: From when on nobody should believe it.
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
