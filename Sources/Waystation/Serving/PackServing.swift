import Foundation
import WaystationPacks

extension Serving {
    /// The first step with the file of an installed pack.
    ///
    /// A file that differs from the installed one is not served: the damage is reported to the library, and the request
    /// continues with the next source.
    func packStep(_ packs: PackLibrary, otherwise: @escaping @Sendable () -> ServingStep) -> ServingStep {
        guard let found = packs.lookUp(canonical.url) else { return otherwise() }
        let file = OfflineFile(directory: found.directory, path: found.path, source: .pack) { problem in
            packs.reportDamage(found, problem)
        }
        return step(file, again: { $0.packStep(packs, otherwise: otherwise) }, otherwise: otherwise)
    }
}
