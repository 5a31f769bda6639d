import Waystation
import WaystationTransport

/// Reports the cures that reach into Foundation: whether this toolchain needs them, and whether it is one that they know.
enum CureChecks {
    static func all() -> [Finding] { FoundationCure.all.map(finding) }

    static func finding(_ cure: FoundationCure) -> Finding {
        let name = "cure of \(cure.trap): \(cure.effect)"
        var finding =
            switch cure.state {
            case .applied: Finding.fine(name, "applied: Foundation has the layout that the cure knows")
            case .notNeeded: Finding.fine(name, "not needed: this toolchain does not have the fault")
            case .unknownLayout(let missing):
                Finding.warning(
                    name,
                    "not applied: this toolchain has no \(missing)",
                    "install a version of Waystation for this toolchain: until then, \(cure.loss)"
                )
            }
        finding.document = "Docs/FoundationTraps.md, Cures that reach into Foundation"
        return finding
    }
}
