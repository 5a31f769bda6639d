import Foundation
import WaystationPacks

extension Serving {
    /// The file of an installed pack.
    ///
    /// A file that is not what was installed is not served: the library is told, and the request goes on.
    func packStep(_ packs: PackLibrary, otherwise: @escaping @Sendable () -> ServingStep) -> ServingStep {
        guard let found = packs.lookUp(canonical.url) else { return otherwise() }
        let file = OfflineFile(directory: found.directory, path: found.path, source: .pack) { problem in
            packs.reportDamage(found, problem)
        }
        return step(file, again: { $0.packStep(packs, otherwise: otherwise) }, otherwise: otherwise)
    }
}
