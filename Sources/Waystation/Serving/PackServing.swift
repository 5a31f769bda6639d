#if Packs
import Foundation
import WaystationPacks

extension Serving {
    /// The verdict of the installed packs.
    ///
    /// A file that differs from the installed one is not served: the damage is reported to the library, and the request
    /// continues with the next source.
    func pack(_ packs: PackLibrary, otherwise: @escaping @Sendable () -> Verdict) -> Verdict {
        guard let found = packs.lookUp(canonical.url) else { return otherwise() }
        var file = OfflineFile(directory: found.directory, path: found.path, source: .pack) { problem in
            packs.reportDamage(found, problem)
        }
        file.lacksSlash = found.lacksSlash
        return verdict(file, otherwise: otherwise)
    }
}
#endif
